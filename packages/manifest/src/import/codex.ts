/**
 * Reads rules of Codex: `.rules` files, and what `config.toml` says about approvals, sandbox and servers.
 *
 * A rule is the beginning of an argument list; each word may be one of several. The strictest rule that matches holds:
 * `forbidden`, then `prompt`, then `allow`.
 */
import { readToml } from './formats.ts';
import { Findings, nameUnknown, readServers, setOf, short } from './reading.ts';
import type { Found, How } from './rule.ts';
import { readStarlark, type StarlarkCall } from './starlark.ts';
import { type Entry, entriesOf, get, show, textOf, textsOf, Unreadable, type Value } from './value.ts';

const HOW: Readonly<Record<string, How>> = { allow: 'allow', prompt: 'ask', forbidden: 'deny' };
const FIELDS = setOf('pattern decision justification match not_match');

/** Reads one `.rules` file. */
export function readCodexRules(file: string, text: string): Found {
  const findings = new Findings(file);
  for (const call of readStarlark(text)) {
    if (call.name === 'prefix_rule') readPrefixRule(findings, call);
    else if (call.name === 'network_rule') readNetworkRule(findings, call);
    else if (call.name === 'host_executable')
      findings.name(
        call.line,
        shortCall(call),
        'a program is looked up on PATH when the session starts: write its absolute path as command',
      );
    else
      throw new Unreadable(
        call,
        `${short(call.name)} is no rule that is known here`,
        'write prefix_rule(…), or import without this file',
      );
  }
  return findings.found;
}

const shortCall = ({ name, args }: StarlarkCall): string =>
  short(
    `${name}(${entriesOf(args)
      .map(({ key, value }) => `${key} = ${show(value)}`)
      .join(', ')})`,
  );

function readPrefixRule(findings: Findings, call: StarlarkCall): void {
  const { args, line } = call;
  const decision = get(args, 'decision');
  const how = decision === undefined ? 'allow' : HOW[textOf(decision) ?? ''];
  const pattern = get(args, 'pattern');
  const words = pattern?.kind === 'list' ? pattern.items.map((word) => textsOf(word)) : [];
  const strange = entriesOf(args).find(({ key }) => !FIELDS.has(key));
  if (
    how === undefined ||
    words.length === 0 ||
    words.some((one) => one === undefined || one.length === 0) ||
    strange !== undefined
  )
    throw new Unreadable(
      { line: strange?.line ?? line },
      'this prefix_rule cannot be read',
      'write pattern = ["program", ["this", "or this"]] and decision = "allow", "prompt" or "forbidden"',
    );
  const text = short(
    `prefix_rule(${show(pattern as Value)}, ${how === 'ask' ? 'prompt' : how === 'deny' ? 'forbidden' : 'allow'})`,
  );
  findings.rule(line, text, how, { kind: 'command', words: words as string[][], more: true });
}

function readNetworkRule(findings: Findings, call: StarlarkCall): void {
  const how = textOf(get(call.args, 'decision'));
  if (how === 'forbidden' || how === 'deny')
    findings.holds(call.line, shortCall(call), 'session: programs have no network');
  else
    findings.name(
      call.line,
      shortCall(call),
      'programs of a session have no network: an http cap is a request of the agent itself',
    );
}

const HARMLESS = setOf(`
  analytics chatgpt_base_url check_for_update_on_startup cli_auth_credentials_store commit_attribution compact_prompt
  developer_instructions disable_paste_burst experimental_compact_prompt_file feedback file_opener
  forced_chatgpt_workspace_id forced_login_method hide_agent_reasoning history instructions log_dir
  model model_auto_compact_token_limit model_catalog_json model_context_window model_instructions_file model_provider
  model_providers model_reasoning_effort model_reasoning_summary model_supports_reasoning_summaries model_verbosity
  notice openai_base_url oss_provider otel personality plan_mode_reasoning_effort
  preferred_auth_method profile project_doc_fallback_filenames project_doc_max_bytes project_root_markers review_model
  service_tier show_raw_agent_reasoning sqlite_home suppress_unstable_features_warning tool_output_token_limit tui
  windows windows_wsl_setup_acknowledged`);
const READ = setOf(
  'approval_policy sandbox_mode sandbox_workspace_write mcp_servers profiles projects permissions default_permissions hooks notify',
);
const SERVER_FIELDS = setOf(
  'command args url enabled startup_timeout_sec startup_timeout_ms tool_timeout_sec required enabled_tools disabled_tools default_tools_approval_mode tools',
);

/** Reads `config.toml`. */
export function readCodexConfig(file: string, text: string): Found {
  const whole = readToml(text);
  const findings = new Findings(file);
  for (const entry of entriesOf(whole)) readSetting(findings, entry);
  readServers(findings, get(whole, 'mcp_servers'), SERVER_FIELDS);
  for (const server of entriesOf(get(whole, 'mcp_servers'))) readTools(findings, server);
  nameUnknown(findings, whole, READ, HARMLESS);
  return findings.found;
}

function readSetting(findings: Findings, { key, line, value }: Entry): void {
  const text = `${key} = ${short(show(value))}`;
  switch (key) {
    case 'approval_policy':
      if (value.kind === 'record' || textOf(value) === 'never') findings.neverAsks = { text, ...findings.at(line) };
      if (textOf(value) === 'never') findings.holds(line, text, 'session: it asks for nothing');
      else if (value.kind === 'record')
        findings.name(line, text, 'which questions are refused unasked depends on conditions: here all of them are');
      else findings.holds(line, text, 'session: what is not listed does not exist');
      break;
    case 'sandbox_mode':
      if (textOf(value) === 'danger-full-access')
        findings.name(line, text, 'every program of a session runs in the sandbox');
      else
        findings.name(
          line,
          text,
          'it lets any program run in a sandbox: choose a shell in the sandbox by hand, with the directories that it needs',
        );
      break;
    case 'sandbox_workspace_write':
    case 'permissions':
      for (const one of entriesOf(value))
        findings.name(
          one.line,
          `${key}.${one.key}`,
          'a sandbox is made of the caps that a program mounts: list directories as fs caps',
        );
      break;
    case 'default_permissions':
      findings.name(line, text, 'a profile of the sandbox has no name in a manifest');
      break;
    case 'profiles':
    case 'projects':
      for (const one of entriesOf(value))
        findings.name(
          one.line,
          `${key}.${one.key}`,
          key === 'profiles'
            ? 'a profile is a manifest of its own: import its settings alone'
            : 'a directory gives no authority here: a granter accepts a file by its content',
        );
      break;
    case 'hooks':
    case 'notify':
      findings.name(line, text, 'a hook is a program of the other agent');
  }
}

/** Codex asks for tools of a server as `default_tools_approval_mode` says, and `tools.NAME` for each. */
function readTools(findings: Findings, { key: server, line, value }: Entry): void {
  const modeOf = (given: Value | undefined): string => textOf(given) ?? 'auto';
  const usual = modeOf(get(value, 'default_tools_approval_mode'));
  const enabled = get(value, 'enabled_tools');
  const each = new Map(entriesOf(get(value, 'tools')).map((tool) => [tool.key, tool]));
  const add = (at: number, name: string, mode: string): void => {
    const text = `server ${server}: ${name} (${mode})`;
    const subject = { kind: 'mcp', server, tool: name } as const;
    if (mode === 'approve') findings.rule(at, text, 'allow', subject, name.includes('*') ? { why: WILD } : {});
    else if (mode === 'prompt') findings.rule(at, text, 'ask', subject, name.includes('*') ? { why: WILD } : {});
    else
      findings.rule(at, text, 'ask', subject, {
        why: `whether it asks in mode ${mode} depends on what the server says of its tool`,
      });
  };
  if (enabled?.kind === 'list') {
    for (const one of enabled.items)
      add(
        one.line,
        textOf(one) ?? '*',
        modeOf(get(each.get(textOf(one) ?? '')?.value, 'approval_mode')) === 'auto' && !each.has(textOf(one) ?? '')
          ? usual
          : modeOf(get(each.get(textOf(one) ?? '')?.value, 'approval_mode')),
      );
  } else {
    for (const [name, tool] of each) add(tool.line, name, modeOf(get(tool.value, 'approval_mode')));
    findings.rule(line, `server ${server}`, 'allow', { kind: 'mcp', server, tool: '*' }, { why: WILD });
  }
  const disabled = get(value, 'disabled_tools');
  for (const one of disabled?.kind === 'list' ? disabled.items : [])
    findings.rule(one.line, `server ${server}: disabled ${show(one)}`, 'deny', {
      kind: 'mcp',
      server,
      tool: textOf(one) ?? '*',
    });
}

const WILD = 'all tools of the server: list those that are needed';
