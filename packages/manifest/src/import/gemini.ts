/**
 * Reads rules of Gemini CLI: policy files, and the tools and servers of `settings.json`.
 *
 * The rule with the highest number holds. Files lie in tiers that their text does not tell, so numbers count within a
 * file, and between files the strictest rule holds.
 */
import { readJson, readToml } from './formats.ts';
import { Findings, lineSubject, nameUnknown, readServers, setOf, short, unlessDeny } from './reading.ts';
import type { Found, How, Subject } from './rule.ts';
import { type Entry, entriesOf, get, show, textOf, textsOf, Unreadable, type Value } from './value.ts';

const HOW: Readonly<Record<string, How>> = { allow: 'allow', ask_user: 'ask', deny: 'deny' };
const FIELDS = setOf(
  'toolName subagent mcpName toolAnnotations argsPattern commandPrefix commandRegex decision priority denyMessage deny_message modes interactive allowRedirection allow_redirection',
);
/** A rule with one of these does not hold for every call. */
const CONDITIONS = ['subagent', 'toolAnnotations', 'argsPattern', 'commandRegex', 'modes', 'interactive'] as const;
const OTHER_TOOLS = setOf(`
  activate_skill ask_user codebase_investigator complete_task enter_plan_mode exit_plan_mode get_internal_docs
  google_web_search invoke_agent list_background_processes read_background_output save_memory tracker_create_task
  update_topic web_fetch write_todos cli_help generalist`);
const FILES: Readonly<Record<string, readonly ('list' | 'read' | 'search' | 'write')[]>> = {
  read_file: ['read'],
  read_many_files: ['read', 'search'],
  list_directory: ['list'],
  glob: ['search'],
  grep_search: ['search'],
  search_file_content: ['search'],
  write_file: ['write'],
  replace: ['write'],
};
const SHELL = 'run_shell_command';

/** Reads a policy file. */
export function readGeminiPolicy(file: string, text: string): Found {
  const whole = readToml(text);
  const findings = new Findings(file);
  for (const { key, line, value } of entriesOf(whole)) {
    if (key === 'rule' && value.kind === 'list') for (const one of value.items) readRule(findings, one);
    else if (key === 'safety_checker') {
      for (const one of value.kind === 'list' ? value.items : [value])
        findings.name(one.line, 'safety_checker', 'a checker is a program of the other agent');
    } else throw new Unreadable({ line }, `${short(key)} is no rule`, 'write [[rule]], or import without this file');
  }
  return findings.found;
}

function readRule(findings: Findings, rule: Value): void {
  const { line } = rule;
  const decision = textOf(get(rule, 'decision')) ?? '';
  const how = HOW[decision];
  const given = get(rule, 'priority');
  const rank = given?.kind === 'scalar' && typeof given.value === 'number' ? given.value : undefined;
  if (how === undefined || rank === undefined || !(rank >= 0 && rank <= 999))
    throw new Unreadable(
      { line },
      'this rule cannot be read',
      'write decision = "allow", "ask_user" or "deny", and a priority from 0 to 999',
    );
  const strange = entriesOf(rule).find(({ key }) => !FIELDS.has(key));
  const condition = CONDITIONS.find((key) => get(rule, key) !== undefined);
  const text = short(
    entriesOf(rule)
      .map(({ key, value }) => `${key} = ${show(value)}`)
      .join(', '),
  );
  const limit = strange?.key ?? condition;
  const why =
    limit === undefined
      ? undefined
      : limit === 'argsPattern' || limit === 'commandRegex'
        ? 'a regular expression stands for calls that are not listed'
        : `it holds only under a condition (${limit})`;
  for (const { subject, unclear, isUnknown } of subjectsOf(rule)) {
    const reason = unlessDeny(isUnknown === true ? 'allow' : how, unclear);
    // A deny under a condition that may fail is no barrier for what outranks it, but always takes away what does not.
    findings.rule(line, text, how, subject, { rank, ...reason, ...(why === undefined ? {} : { why }) });
  }
}

interface Meant {
  readonly subject: Subject;
  readonly unclear?: string;
  /** The rule may mean something else than is read, also if it denies. */
  readonly isUnknown?: true;
}

function subjectsOf(rule: Value): readonly Meant[] {
  const names = get(rule, 'toolName') === undefined ? ['*'] : textsOf(get(rule, 'toolName'));
  const server = get(rule, 'mcpName');
  if (names === undefined || names.length === 0)
    return [{ subject: { kind: 'any' }, unclear: 'its toolName is no text', isUnknown: true }];
  if (server !== undefined)
    return names.map((tool) => ({
      subject: { kind: 'mcp', server: textOf(server) ?? '*', tool },
      ...(tool.includes('*') || textOf(server)?.includes('*') !== false ? { unclear: WILD } : {}),
    }));
  return names.flatMap((name) => {
    if (name === SHELL) return shellSubjects(rule);
    const meant = toolSubject(name);
    // Gemini CLI looks for the command among the arguments of another tool, and never finds one.
    const isOdd = get(rule, 'commandPrefix') !== undefined;
    return [isOdd ? { ...meant, unclear: `commandPrefix belongs to ${SHELL} alone`, isUnknown: true as const } : meant];
  });
}

const WILD = 'a wildcard stands for tools that are not listed';

function shellSubjects(rule: Value): readonly Meant[] {
  const prefixes = get(rule, 'commandPrefix');
  if (prefixes === undefined || get(rule, 'commandRegex') !== undefined)
    return [
      {
        subject: { kind: 'lines', glob: '*' },
        unclear: 'it is about every command: choose a shell in the sandbox by hand',
      },
    ];
  const texts = textsOf(prefixes);
  if (texts === undefined || texts.length === 0)
    return [{ subject: { kind: 'lines', glob: '*' }, unclear: 'its commandPrefix is no text' }];
  return texts.map((prefix) => {
    const { subject, why } = lineSubject(prefix, true, `${prefix}*`);
    return { subject, ...(why === undefined ? {} : { unclear: why }) };
  });
}

function toolSubject(name: string): Meant {
  if (name === '*') return { subject: { kind: 'any' }, unclear: WILD };
  if (Object.hasOwn(FILES, name)) return { subject: { kind: 'files', rights: FILES[name] ?? [] } };
  if (name.startsWith('mcp_')) {
    // `mcp_SERVER_TOOL` does not say where the server ends.
    return {
      subject: { kind: 'mcp', server: '*', tool: '*' },
      unclear: name.includes('*')
        ? WILD
        : 'the name does not say where the server ends and the tool begins: write mcpName',
    };
  }
  if (name.includes('*')) return { subject: { kind: 'any' }, unclear: WILD };
  if (name === 'web_fetch')
    return { subject: { kind: 'pages', host: '*' }, unclear: 'it is about every page: name each host' };
  const subject: Subject = { kind: 'tool', name };
  if (OTHER_TOOLS.has(name)) return { subject, unclear: `no cap stands for the tool ${name}` };
  return { subject, unclear: `${short(name)} is not a tool that is known here`, isUnknown: true };
}

const HARMLESS = setOf(
  '$schema adminPolicyPaths billing context experimental general ide model modelConfigs output privacy telemetry ui useWriteTodos admin policyPaths',
);
const READ = setOf('tools mcpServers mcp security hooks hooksConfig advanced agents extensions skills');
const SERVER_FIELDS = setOf('command args url httpUrl timeout description includeTools excludeTools trust type');

/** Reads `settings.json`. */
export function readGeminiSettings(file: string, text: string): Found {
  const whole = readJson(text);
  if (whole.kind !== 'record')
    throw new Unreadable(whole, 'these are no settings', 'name a settings.json or a policy file');
  const findings = new Findings(file);
  for (const entry of entriesOf(get(whole, 'tools'))) readTools(findings, entry);
  readServers(findings, get(whole, 'mcpServers'), SERVER_FIELDS);
  for (const server of entriesOf(get(whole, 'mcpServers'))) readServerTools(findings, server);
  for (const { key, line, value } of entriesOf(get(whole, 'mcp'))) {
    if (key !== 'excluded')
      findings.name(line, `mcp.${key}: ${short(show(value))}`, 'a server is used if a rule lists its tools');
    for (const one of key === 'excluded' && value.kind === 'list' ? value.items : [])
      findings.rule(one.line, `mcp.excluded: ${show(one)}`, 'deny', {
        kind: 'mcp',
        server: textOf(one) ?? '*',
        tool: '*',
      });
  }
  for (const key of ['security', 'hooks', 'hooksConfig', 'advanced', 'agents', 'extensions', 'skills'])
    for (const one of entriesOf(get(whole, key)))
      findings.name(
        one.line,
        `${key}.${one.key}`,
        key.startsWith('hooks')
          ? 'a hook is a program of the other agent'
          : 'it has no place in a manifest: look whether it changes what may run',
      );
  nameUnknown(findings, whole, READ, HARMLESS);
  return findings.found;
}

/** `tools.allowed` runs unasked; `tools.exclude` does not exist; `tools.core` is all that exists. */
function readTools(findings: Findings, { key, line, value }: Entry): void {
  const how = { allowed: 'allow', exclude: 'deny', confirmationRequired: 'ask' }[key] as How | undefined;
  if (how === undefined || value.kind !== 'list') {
    findings.name(
      line,
      `tools.${key}: ${short(show(value))}`,
      'it has no place in a manifest: what is not listed does not exist',
    );
    return;
  }
  for (const one of value.items) {
    const text = `tools.${key}: ${show(one)}`;
    const [, name = '', spec] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(textOf(one) ?? '') ?? [];
    const shell =
      /^(?:run_shell_command|ShellTool)$/.test(name) && spec !== undefined && spec !== ''
        ? lineSubject(spec, true, `${spec}*`)
        : undefined;
    const isShell = /^(?:run_shell_command|ShellTool)$/.test(name);
    const { subject, unclear, isUnknown }: Meant =
      shell !== undefined
        ? { subject: shell.subject, ...(shell.why === undefined ? {} : { unclear: shell.why }) }
        : isShell
          ? {
              subject: { kind: 'lines', glob: '*' },
              unclear: 'it is about every command: choose a shell in the sandbox by hand',
            }
          : name === '' || spec !== undefined
            ? { subject: { kind: 'any' }, unclear: 'this is no name of a tool', isUnknown: true }
            : toolSubject(name);
    findings.rule(one.line, text, how, subject, unlessDeny(isUnknown === true ? 'allow' : how, unclear));
  }
}

/** A trusted server runs its tools unasked. `includeTools` lists them. */
function readServerTools(findings: Findings, { key: server, line, value }: Entry): void {
  const isTrusted = show(get(value, 'trust') ?? { kind: 'scalar', line, value: false }) === 'true';
  const include = get(value, 'includeTools');
  const how: How = isTrusted ? 'allow' : 'ask';
  for (const one of include?.kind === 'list' ? include.items : [])
    findings.rule(
      one.line,
      `server ${server}: includeTools ${show(one)}`,
      how,
      { kind: 'mcp', server, tool: textOf(one) ?? '*' },
      /^[^*(]+$/.test(textOf(one) ?? '') ? {} : { why: 'this is no name of a tool' },
    );
  if (include === undefined)
    findings.rule(
      line,
      `server ${server}`,
      how,
      { kind: 'mcp', server, tool: '*' },
      { why: 'all tools of the server: list those that are needed under includeTools' },
    );
  const exclude = get(value, 'excludeTools');
  for (const one of exclude?.kind === 'list' ? exclude.items : [])
    findings.rule(one.line, `server ${server}: excludeTools ${show(one)}`, 'deny', {
      kind: 'mcp',
      server,
      tool: textOf(one) ?? '*',
    });
}
