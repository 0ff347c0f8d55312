/**
 * Reads rules of Hermes: `approvals` of `config.yaml`, with the per-tool rules that were proposed for it.
 *
 * Deny wins over ask, and ask over allow. `tool_mode` decides for tools that no rule names. `terminal(npm test)` is
 * this command alone, `terminal(git log:*)` begins with these words, and a path may end in `**`.
 */
import { readYaml } from './formats.ts';
import { Findings, lineSubject, nameUnknown, pathPattern, readServers, setOf, short, unlessDeny } from './reading.ts';
import type { FilePattern, Found, How, Subject } from './rule.ts';
import { type Entry, entriesOf, get, show, textOf, textsOf, Unreadable, type Value } from './value.ts';

const HARMLESS = setOf(`
  _config_version bell_on_complete browser compression context curator display fallback_model fallback_providers goals
  human_delay kanban logging memory model model_aliases model_catalog moa network onboarding openrouter paste_collapse
  personalities prefill_messages_file privacy prompt_caching provider_routing providers quick_setup sessions skills stt
  streaming telegram timezone toolsets tts updates voice web`);
const READ = setOf('approvals command_allowlist hooks hooks_auto_accept mcp_servers agent');
const SERVER_FIELDS = setOf(
  'command args url timeout connect_timeout enabled transport supports_parallel_tool_calls tools',
);
const OTHER_TOOLS = setOf(`
  browser_back browser_click browser_close browser_console browser_get_images browser_navigate browser_press
  browser_scroll browser_snapshot browser_type browser_vision clarify cronjob delegate_task execute_code
  ha_call_service ha_get_state ha_list_entities ha_list_services image_generate kanban memory
  mixture_of_agents process send_message session_search skill_manage skill_view skills_list text_to_speech todo
  vision_analyze web_crawl web_extract web_search`);
const MODES = setOf('plan supervised cautious autonomous');

/** Reads one file. */
export function readHermes(file: string, text: string): Found {
  const whole = readYaml(text);
  if (whole.kind !== 'record') throw new Unreadable(whole, 'this is no configuration', 'name a config.yaml');
  const findings = new Findings(file);
  for (const entry of entriesOf(get(whole, 'approvals'))) readApproval(findings, entry);
  const approvals = get(whole, 'approvals');
  if (approvals !== undefined && approvals.kind !== 'record' && show(approvals) !== 'null')
    throw new Unreadable(approvals, 'approvals is no record', 'write approvals: and its keys beneath it');
  const classes = get(whole, 'command_allowlist');
  for (const one of classes?.kind === 'list' ? classes.items : [])
    findings.rule(
      one.line,
      `command_allowlist: ${show(one)}`,
      'allow',
      { kind: 'lines', glob: '*' },
      {
        why: 'it names a class of commands and not a command',
      },
    );
  if (classes?.kind === 'scalar' && classes.value !== null)
    findings.name(classes.line, `command_allowlist: ${short(show(classes))}`, 'this is no list');
  for (const hook of entriesOf(get(whole, 'hooks')))
    findings.name(hook.line, `hook ${hook.key}`, 'a hook is a program of the other agent');
  const accept = get(whole, 'hooks_auto_accept');
  if (accept !== undefined) findings.name(accept.line, `hooks_auto_accept: ${show(accept)}`, 'a session runs no hooks');
  const agent = get(whole, 'agent');
  for (const one of textsOf(get(agent, 'disabled_toolsets')) ?? [])
    findings.name(
      agent?.line ?? 1,
      `disabled_toolsets: ${one}`,
      'a set of tools has no name in a manifest; no cap is made for its tools unless a rule allows one',
    );
  readMcp(findings, get(whole, 'mcp_servers'));
  nameUnknown(findings, whole, READ, HARMLESS);
  return findings.found;
}

function readApproval(findings: Findings, { key, line, value }: Entry): void {
  const text = `${key}: ${short(show(value))}`;
  if (key === 'rules') readRules(findings, value);
  else if (key === 'tool_mode') readToolMode(findings, line, text, show(value));
  else if (key === 'mode') readMode(findings, line, text, show(value).trim().toLowerCase());
  else if (key === 'cron_mode') {
    // Hermes takes these words for yes, and every other value for no.
    if (/^(?:approve|off|allow|yes|false)$/i.test(show(value).trim()))
      findings.name(line, text, 'a session runs nothing for a schedule, so nothing of it is approved');
    else findings.holds(line, text, 'session: it holds no schedules, so they run nothing');
  } else if (key === 'timeout' || key === 'gateway_timeout')
    findings.name(line, text, 'how long a question waits is set where the host starts (requestMs), for all sessions');
  else if (key === 'deny') {
    for (const one of value.kind === 'list' ? value.items : [value])
      findings.rule(one.line, `deny: ${show(one)}`, 'deny', { kind: 'lines', glob: textOf(one) ?? '*' });
  } else findings.name(line, `approvals.${text}`, 'this key is not known here: look whether it changes what may run');
}

function readToolMode(findings: Findings, line: number, text: string, mode: string): void {
  if (!MODES.has(mode)) findings.name(line, text, 'there is no such mode');
  else {
    findings.mode = { mode: mode as 'plan', ...findings.at(line) };
    findings.name(
      line,
      text,
      'only in part: it also decides for tools without a rule, and here these do not exist',
      'session.mode',
    );
  }
}

/** PyYAML reads `off` as false, and Hermes takes that for off. */
function readMode(findings: Findings, line: number, text: string, mode: string): void {
  if (mode === 'smart') {
    findings.judge = true;
    findings.name(line, text, 'only in part: here a model may propose and refuse, and a person approves', 'judge');
  } else if (mode === 'off' || mode === 'false')
    findings.name(line, text, 'nothing turns all questions off: allow what may run');
  else if (mode === 'manual' || mode === 'null') findings.holds(line, text, 'session: a person answers each question');
  else findings.name(line, text, 'this mode is not known here');
}

function readRules(findings: Findings, rules: Value): void {
  if (rules.kind !== 'record')
    throw new Unreadable(rules, 'rules is no record', 'write allow, ask and deny beneath it');
  for (const { key, line, value } of rules.entries) {
    if (key !== 'allow' && key !== 'ask' && key !== 'deny') {
      // It might be a list that denies.
      findings.rule(
        line,
        `rules.${key}`,
        'deny',
        { kind: 'any' },
        { why: 'there are allow, ask and deny, and no other list' },
      );
      continue;
    }
    if (value.kind === 'record') throw new Unreadable(value, `${key} is no list`, 'write a line with - for each rule');
    if (value.kind === 'scalar' && value.value === null) continue;
    for (const one of value.kind === 'list' ? value.items : [value]) readRule(findings, key, one);
  }
}

function readRule(findings: Findings, how: How, value: Value): void {
  const { line } = value;
  const text = textOf(value)?.trim();
  const [, tool, given] = /^([A-Za-z_][\w-]*)(?:\((.*)\))?$/s.exec(text ?? '') ?? [];
  if (text === undefined || tool === undefined) {
    findings.rule(
      line,
      short(show(value)),
      how,
      { kind: 'any' },
      { why: 'this is no rule: it has the form tool or tool(text)' },
    );
    return;
  }
  const spec = given === '' || given === '*' ? undefined : given;
  const add = (subject: Subject, why?: string): void => findings.rule(line, text, how, subject, unlessDeny(how, why));
  if (tool === 'terminal') {
    if (spec === undefined)
      add({ kind: 'lines', glob: '*' }, 'it allows every command: choose a shell in the sandbox by hand');
    else {
      const prefix = /^(.*):\*$/s.exec(spec)?.[1];
      const { subject, why } = lineSubject(
        prefix ?? spec,
        prefix !== undefined,
        prefix === undefined ? spec.replaceAll(':*', '*') : `${prefix}*`,
      );
      add(subject, why);
    }
  } else if (tool === 'read_file' || tool === 'search_files' || tool === 'write_file' || tool === 'patch') {
    const rights = {
      read_file: ['read'],
      search_files: ['list', 'search'],
      write_file: ['write'],
      patch: ['write'],
    } as const;
    add({ kind: 'files', rights: rights[tool], ...(spec !== undefined && { pattern: filePattern(spec, how) }) });
  } else if (tool.startsWith('mcp_')) addMcp(findings, line, text, how);
  else if (OTHER_TOOLS.has(tool))
    add({ kind: 'tool', name: tool }, how === 'deny' ? undefined : `no cap stands for the tool ${tool}`);
  else
    findings.rule(line, text, how, { kind: 'tool', name: tool }, { why: `${tool} is not a tool that is known here` });
}

function filePattern(spec: string, how: How): FilePattern {
  if (spec.startsWith('/')) return pathPattern(spec, '/');
  if (spec === '~' || spec.startsWith('~/')) return pathPattern(spec.slice(1), 'home');
  const pattern = pathPattern(spec, 'cwd');
  // The proposal does not say at which depth a name counts. A rule that takes away counts at any depth.
  return how === 'allow' || pattern.names[0] === '**' ? pattern : { ...pattern, names: ['**', ...pattern.names] };
}

/** `mcp_SERVER_TOOL`, in which every sign but letters and digits became `_`: several tools have the same name. */
function addMcp(findings: Findings, line: number, text: string, how: How): void {
  const why =
    how === 'deny'
      ? undefined
      : 'the name does not say where the server ends and the tool begins: name it under tools.include';
  findings.rule(line, text, how, { kind: 'mcp', server: '*', tool: '*' }, why === undefined ? {} : { why });
}

/** Hermes calls tools of a server without asking. `tools.include` lists them; without it every tool is meant. */
function readMcp(findings: Findings, servers: Value | undefined): void {
  readServers(findings, servers, SERVER_FIELDS);
  for (const { key: server, line, value } of entriesOf(servers)) {
    const tools = get(value, 'tools');
    const include = get(tools, 'include');
    if (include === undefined || include.kind !== 'list')
      findings.rule(
        line,
        `server ${server}`,
        'allow',
        { kind: 'mcp', server, tool: '*' },
        { why: 'all tools of the server: list those that are needed under tools.include' },
      );
    else
      for (const one of include.items)
        findings.rule(
          one.line,
          `server ${server}: include ${show(one)}`,
          'allow',
          { kind: 'mcp', server, tool: textOf(one) ?? '*' },
          textOf(one)?.includes('*') === false ? {} : { why: 'this is no name of a tool' },
        );
    const exclude = get(tools, 'exclude');
    for (const one of exclude?.kind === 'list' ? exclude.items : [])
      findings.rule(one.line, `server ${server}: exclude ${show(one)}`, 'deny', {
        kind: 'mcp',
        server,
        tool: textOf(one) ?? '*',
      });
    for (const field of entriesOf(tools))
      if (field.key === 'resources' || field.key === 'prompts') {
        if (show(field.value) !== 'false')
          findings.name(field.line, `server ${server}: ${field.key}`, 'a cap has tools and nothing else of a server');
      } else if (field.key !== 'include' && field.key !== 'exclude')
        findings.name(field.line, `server ${server}: ${field.key}`, 'this key is not known here');
  }
}
