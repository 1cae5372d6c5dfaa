-- What a person does in an editor, done by Neovim's own client: open, read findings, take a fix, ask, rename, save.
-- Runs in Neovim 0.7 and later. Prints a line a check; the last line counts them.

local passed, failed = 0, 0
local WITHIN_MS = 20000

local function say(text)
  io.stdout:write(text .. "\n")
  io.stdout:flush()
end

local function check(name, holds, found)
  if holds then
    passed = passed + 1
    say("ok     " .. name)
  else
    failed = failed + 1
    say("FAILED " .. name .. ": " .. vim.inspect(found))
  end
end

local function finish()
  say(string.format("neovim: %d passed, %d failed", passed, failed))
  vim.cmd(failed == 0 and passed > 0 and "qall!" or "cquit 1")
end

local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

-- The 0-based line and byte column of the first place that holds a word.
local function place(buffer, word)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(word, 1, true)
    if column then
      return number - 1, column - 1
    end
  end
  error("no " .. word)
end

local function go_to(buffer, word, inside)
  vim.api.nvim_set_current_buf(buffer)
  local line, column = place(buffer, word)
  vim.api.nvim_win_set_cursor(0, { line + 1, column + (inside or 0) })
end

local function codes(buffer)
  local all = {}
  for _, found in ipairs(vim.diagnostic.get(buffer)) do
    local code = found.code or (found.user_data and found.user_data.lsp and found.user_data.lsp.code)
    all[#all + 1] = code
  end
  table.sort(all)
  return all
end

local function wait_for(what)
  return vim.wait(WITHIN_MS, what, 20)
end

local function has(list, wanted)
  for _, one in ipairs(list) do
    if one == wanted then
      return true
    end
  end
  return false
end

local function start(buffer)
  local config = { name = "flowright", cmd = { vim.env.FLOWRIGHT, "lsp" }, root_dir = vim.fn.getcwd() }
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, id)
  return id
end

local function story()
  vim.cmd("edit broken.flow.yaml")
  local flow = vim.api.nvim_get_current_buf()
  vim.bo[flow].filetype = "yaml"
  local id = start(flow)
  local client = function()
    return vim.lsp.get_client_by_id(id)
  end
  check("the server starts", id ~= nil and wait_for(function()
    return client() ~= nil and client().initialized
  end), id)

  local ask = function(method, params)
    local answer, why = client().request_sync(method, params, WITHIN_MS, flow)
    if not answer then
      return nil, why
    end
    return answer.result, answer.err
  end
  local here = function(more)
    local params = vim.lsp.util.make_position_params(0, client().offset_encoding)
    return vim.tbl_extend("force", params, more or {})
  end

  -- Findings, at their places behind wide characters.
  check("findings come", wait_for(function()
    return #vim.diagnostic.get(flow) > 0
  end), codes(flow))
  check("it finds what is wrong", has(codes(flow), "unknown-input") and has(codes(flow), "unknown-key"), codes(flow))
  for _, found in ipairs(vim.diagnostic.get(flow)) do
    local line, column = place(flow, "topik")
    if found.message:find("topik", 1, true) then
      check("the place is exact behind wide characters", found.lnum == line and found.col == column, found)
    end
  end

  -- A fix is taken, and its finding goes.
  go_to(flow, "topik", 1)
  local params = vim.lsp.util.make_range_params(0, client().offset_encoding)
  params.context = { diagnostics = {}, only = { "quickfix" } }
  local actions, why = ask("textDocument/codeAction", params)
  check("a fix is offered", actions and #actions == 1 and actions[1].isPreferred, { actions, why })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, client().offset_encoding)
  check("the fix is in the text", text_of(flow):find("${{ inputs.topic }}", 1, true) ~= nil, text_of(flow))
  check("its finding goes", wait_for(function()
    return not has(codes(flow), "unknown-input")
  end), codes(flow))
  params.context = { diagnostics = {}, only = { "source.fixAll" } }
  actions = ask("textDocument/codeAction", params)
  check("all safe fixes are offered", actions and #actions == 1, actions)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, client().offset_encoding)
  check("nothing is wrong any more", wait_for(function()
    return #vim.diagnostic.get(flow) == 0
  end), codes(flow))

  -- Questions.
  go_to(flow, "0 9 * * 1-5", 1)
  local hover = ask("textDocument/hover", here())
  check("hover says something of a schedule", hover and hover.contents.value:find("20%d%d%-") ~= nil, hover)
  go_to(flow, "draft.result", 2)
  local found = ask("textDocument/definition", here())
  local target = found and (vim.tbl_islist(found) and found[1] or found)
  local line = target and (target.targetSelectionRange or target.range).start.line
  check("a binding leads to its step", line == place(flow, "id: draft"), found)
  go_to(flow, "./agents/writer.json", 8)
  found = ask("textDocument/definition", here())
  local uris = vim.tbl_map(function(one)
    return one.targetUri or one.uri
  end, found or {})
  check("an agent leads to its file", has(uris, vim.uri_from_fname(vim.fn.getcwd() .. "/agents/writer.json")), found)
  go_to(flow, "id: draft", 5)
  found = ask("textDocument/references", here({ context = { includeDeclaration = true } }))
  check("a step knows where it is used", found and #found == 2, found)
  found = ask("textDocument/documentSymbol", { textDocument = { uri = vim.uri_from_bufnr(flow) } })
  local names = vim.inspect(found)
  check("the outline has the steps", names:find('"publish"') and names:find('"morning"'), found)

  -- A step is renamed everywhere.
  go_to(flow, "id: draft", 5)
  vim.lsp.buf.rename("outline")
  check("rename reaches every use", wait_for(function()
    local text = text_of(flow)
    return text:find("id: outline", 1, true) and text:find("steps.outline.result.summary", 1, true)
  end), text_of(flow))

  -- Half a binding is completed.
  local at = place(flow, "task: Publish")
  local whole = vim.api.nvim_buf_get_lines(flow, at, at + 1, false)
  vim.api.nvim_buf_set_lines(flow, at, at + 1, false, { "    task: Publish ${{ steps. }}." })
  go_to(flow, "steps. }}", 6)
  local list = ask("textDocument/completion", here())
  local labels = vim.tbl_map(function(item)
    return item.label
  end, list and (list.items or list) or {})
  check("completion knows the steps before", has(labels, "outline"), labels)
  vim.api.nvim_buf_set_lines(flow, at, at + 1, false, whole)

  -- An agent that is open and not saved counts.
  vim.cmd("edit agents/writer.json")
  local agent = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(agent, id)
  local base = place(agent, '"base"')
  local line_of_base = vim.api.nvim_buf_get_lines(agent, base, base + 1, false)
  vim.api.nvim_buf_set_lines(agent, base, base + 1, false, {})
  check("the workflow hears of an agent that is not saved", wait_for(function()
    return has(codes(flow), "agent-without-base") or has(codes(agent), "agent-without-base")
  end), { codes(flow), codes(agent) })
  vim.api.nvim_buf_set_lines(agent, base, base, false, line_of_base)
  check("and of its mending", wait_for(function()
    return #vim.diagnostic.get(flow) == 0 and #vim.diagnostic.get(agent) == 0
  end), { codes(flow), codes(agent) })

  -- The end.
  vim.lsp.stop_client(id)
  check("the server ends when it is told to", wait_for(function()
    return client() == nil or client().is_stopped()
  end), id)
end

local fine, why = xpcall(story, debug.traceback)
if not fine then
  check("no error", false, why)
end
finish()
