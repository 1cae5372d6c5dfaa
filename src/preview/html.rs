//! stub
pub(super) fn print(sketch: &super::Sketch) -> String {
    super::svg::print(sketch, true)
}
