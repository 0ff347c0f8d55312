/**
 * Reads rules of Claude Code: `permissions` of `settings.json`, and servers of `.mcp.json`.
 *
 * Deny wins over ask, and ask over allow, in whichever file they stand. `Bash(git log *)` and `Bash(git log:*)` begin
 * with these words; `Bash(git log)` is this line alone. Paths of `Read` and `Edit` are patterns of gitignore.
 */
import { readJson } from './formats.ts';
import { Findings, lineSubject, nameUnknown, pathPattern, readServers, setOf, short, unlessDeny } from './reading.ts';
import type { FilePattern, Found, How, Subject } from './rule.ts';
import { entriesOf, get, show, textOf, Unreadable, type Value } from './value.ts';

const HARMLESS = setOf(`
  $schema alwaysThinkingEnabled attribution autoMemoryDirectory autoUpdatesChannel availableModels awsAuthRefresh
  cleanupPeriodDays companyAnnouncements editorMode effortLevel fastMode feedbackSurveyRate forceLoginMethod
  forceLoginOrgUUID includeCoAuthoredBy includeGitInstructions language minimumVersion model modelOverrides
  outputStyle plansDirectory prefersReducedMotion preferredNotifChannel respectGitignore showThinkingSummaries
  showTurnDuration spinnerTipsEnabled spinnerTipsOverride spinnerVerbs teammateMode terminalProgressBarEnabled theme
  tui verbose viewMode voiceEnabled`);
const READ = setOf('permissions mcpServers disabledMcpjsonServers');
const SERVER_FIELDS = setOf('command args url type enabled timeout description');
/** Tools with a path in brackets; the rights that a rule about them gives. */
const READING = ['list', 'read', 'search'] as const;
const WRITING = ['write'] as const;
/** A path in a rule about these is accepted by Claude Code and never looked at. */
const NEVER_LOOKED_AT = setOf('Write MultiEdit NotebookEdit Glob Grep LS NotebookRead');
const OTHER_TOOLS = setOf(`
  Agent AskUserQuestion BashOutput CronCreate CronDelete CronList EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree
  KillBash KillShell ListMcpResourcesTool LSP Monitor PowerShell ReadMcpResourceTool RemoteTrigger ReportFindings
  ScheduleWakeup SendMessage Skill SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate
  TeamDelete TodoWrite ToolSearch WebSearch Workflow`);
const EVERY_TOOL = ['Bash', 'Read', 'Edit', 'WebFetch', 'mcp__', ...OTHER_TOOLS];

/** Reads one file. */
export function readClaude(file: string, text: string): Found {
  const whole = readJson(text);
  if (whole.kind !== 'record')
    throw new Unreadable(whole, 'these are no settings', 'name a settings.json or .mcp.json');
  const findings = new Findings(file);
  readPermissions(findings, get(whole, 'permissions'));
  readServers(findings, get(whole, 'mcpServers'), SERVER_FIELDS);
  const off = get(whole, 'disabledMcpjsonServers');
  for (const one of off?.kind === 'list' ? off.items : [])
    findings.rule(one.line, `disabledMcpjsonServers: ${show(one)}`, 'deny', {
      kind: 'mcp',
      server: textOf(one) ?? '*',
      tool: '*',
    });
  for (const { key, line, value } of entriesOf(whole)) {
    if (key === 'hooks')
      for (const hook of entriesOf(value))
        findings.name(hook.line, `hook ${hook.key}`, 'a hook is a program of the other agent');
    else if (key === 'env')
      for (const one of entriesOf(value)) findings.name(one.line, `env ${one.key}`, 'a manifest sets no environment');
    else if (key === 'sandbox')
      findings.name(line, 'sandbox', 'programs of a session always run in the sandbox, with the caps that are mounted');
  }
  nameUnknown(findings, whole, new Set([...READ, 'hooks', 'env', 'sandbox']), HARMLESS);
  return findings.found;
}

function readPermissions(findings: Findings, permissions: Value | undefined): void {
  if (permissions !== undefined && permissions.kind !== 'record')
    throw new Unreadable(permissions, 'permissions is no record', 'write {"permissions": {"allow": [], "deny": []}}');
  for (const { key, line, value } of entriesOf(permissions)) {
    if (key === 'allow' || key === 'ask' || key === 'deny') {
      if (value.kind !== 'list') throw new Unreadable(value, `${key} is no list`, 'write a list of texts');
      for (const one of value.items) readRule(findings, key, one);
    } else if (key === 'defaultMode') readMode(findings, line, show(value));
    else if (key === 'additionalDirectories')
      for (const one of value.kind === 'list' ? value.items : [value])
        findings.name(
          one.line,
          `additionalDirectories: ${short(show(one))}`,
          'a directory is a root: add it with --root NAME=DIR',
        );
    else if (key === 'disableBypassPermissionsMode' || key === 'disableAutoMode')
      findings.holds(line, `${key}: ${show(value)}`, 'nothing: no mode of a manifest skips questions');
    else findings.name(line, `permissions.${key}`, 'this key is not known here: look whether it changes what may run');
  }
}

function readMode(findings: Findings, line: number, mode: string): void {
  const text = `defaultMode: ${mode}`;
  if (mode === 'default' || mode === 'manual') findings.holds(line, text, 'session: what is not listed does not exist');
  else if (mode === 'plan') {
    findings.mode = { mode: 'plan', ...findings.at(line) };
    findings.holds(line, text, 'session.mode');
  } else if (mode === 'dontAsk') {
    findings.neverAsks = { text, ...findings.at(line) };
    findings.holds(line, text, 'session: it asks for nothing');
  } else if (mode === 'acceptEdits')
    findings.name(line, text, 'it allows every edit: write the rule Edit(./**), and import again');
  else findings.name(line, text, 'it lets calls run that no rule lists');
}

function readRule(findings: Findings, how: How, value: Value): void {
  const { line } = value;
  const text = textOf(value)?.trim();
  const read = /^([A-Za-z_*][\w*:.-]*)(?:\((.*)\))?$/s.exec(text ?? '');
  const [, tool, spec] = read ?? [];
  if (text === undefined || tool === undefined) {
    // Claude Code leaves such a rule out. Its writer may have meant anything by it.
    findings.rule(
      line,
      short(show(value)),
      how,
      { kind: 'any' },
      { why: 'this is no rule: it has the form Tool or Tool(text)' },
    );
    return;
  }
  const matched =
    tool.includes('*') && !tool.startsWith('mcp__') ? EVERY_TOOL.filter((name) => globTool(tool, name)) : [tool];
  if (matched.length === 0 || tool.includes('*')) {
    const why = 'a wildcard stands for tools that are not listed';
    if (tool.startsWith('mcp__')) addMcp(findings, line, text, how, tool);
    else if (matched.length === EVERY_TOOL.length || matched.length === 0)
      findings.rule(line, text, how, { kind: 'any' }, { why });
    else for (const one of matched) findings.rule(line, text, how, wholeTool(one), { why });
    return;
  }
  addRule(findings, line, text, how, tool, spec === '' || spec === '*' ? undefined : spec);
}

const globTool = (glob: string, name: string): boolean =>
  new RegExp(
    `^${glob
      .split(/\*+/)
      .map((part) => part.replace(/[.-]/g, '\\$&'))
      .join('[^]*')}`,
  ).test(name);

function wholeTool(name: string): Subject {
  if (name === 'Bash') return { kind: 'lines', glob: '*' };
  if (name === 'Read') return { kind: 'files', rights: [...READING, ...WRITING] };
  if (name === 'Edit') return { kind: 'files', rights: WRITING };
  if (name === 'WebFetch') return { kind: 'pages', host: '*' };
  if (name === 'mcp__') return { kind: 'mcp', server: '*', tool: '*' };
  return { kind: 'tool', name };
}

function addRule(
  findings: Findings,
  line: number,
  text: string,
  how: How,
  tool: string,
  spec: string | undefined,
): void {
  const add = (subject: Subject, why?: string): void => findings.rule(line, text, how, subject, unlessDeny(how, why));
  if (tool.startsWith('mcp__')) addMcp(findings, line, text, how, tool);
  else if (tool === 'Bash') {
    if (spec === undefined)
      add({ kind: 'lines', glob: '*' }, 'it allows every command: choose a shell in the sandbox by hand');
    else {
      const { subject, why } = bashSubject(spec);
      add(subject, why);
    }
  } else if (tool === 'Read' || tool === 'Edit' || NEVER_LOOKED_AT.has(tool))
    addFiles(findings, line, text, how, tool, spec);
  else if (tool === 'WebFetch') {
    const host = /^domain:(.+)$/s.exec(spec ?? '')?.[1];
    if (spec !== undefined && host === undefined)
      add({ kind: 'pages', host: '*' }, 'a rule about pages has the form domain:HOST');
    else if (host === undefined) add({ kind: 'pages', host: '*' }, 'it allows every page: name each host');
    else add({ kind: 'pages', host });
  } else if (OTHER_TOOLS.has(tool))
    add({ kind: 'tool', name: tool }, how === 'deny' ? undefined : `no cap stands for the tool ${tool}`);
  else
    findings.rule(line, text, how, { kind: 'tool', name: tool }, { why: `${tool} is not a tool that is known here` });
}

/** The text in the brackets of `Bash`. `*` stands for any text, also for spaces. */
function bashSubject(spec: string): { subject: Subject; why?: string } {
  const [, prefix] = /^(.*?)(?::\*| +\*)$/s.exec(spec) ?? [];
  const line = prefix ?? spec;
  // `git log *` takes `git log`, and `git log` with a space and anything after it.
  return lineSubject(line, prefix !== undefined, prefix === undefined ? spec.replaceAll(':*', '*') : `${line}*`);
}

function addFiles(
  findings: Findings,
  line: number,
  text: string,
  how: How,
  tool: string,
  spec: string | undefined,
): void {
  const writes = /Edit|Write/.test(tool);
  const add = (rights: readonly ('list' | 'read' | 'search' | 'write')[], pattern?: FilePattern, why?: string): void =>
    findings.rule(
      line,
      text,
      how,
      { kind: 'files', rights, ...(pattern && { pattern }) },
      why === undefined ? {} : { why },
    );
  const own = { Glob: ['search'], Grep: ['search'], LS: ['list'] }[tool] as readonly ('list' | 'search')[] | undefined;
  if (spec === undefined) {
    // A deny of `Read` denies `Edit` as well.
    add(own ?? (writes ? WRITING : how === 'allow' ? READING : [...READING, ...WRITING]));
    return;
  }
  const lost =
    NEVER_LOOKED_AT.has(tool) && how === 'allow'
      ? `Claude Code never looks at a path of ${tool}: write ${writes ? 'Edit' : 'Read'}(…)`
      : undefined;
  for (const pattern of patternsOf(spec, how))
    add(writes ? WRITING : how === 'allow' ? READING : [...READING, ...WRITING], pattern, lost);
}

/** `//x` is absolute, `~/x` is at home, `/x` is in the directory of the project, and others are where the agent works. */
function patternsOf(spec: string, how: How): readonly FilePattern[] {
  if (spec.startsWith('//')) return [pathPattern(spec, '/')];
  if (spec.startsWith('~/') || spec === '~') return [pathPattern(spec.slice(1), 'home')];
  if (spec.startsWith('/')) return [pathPattern(spec, 'cwd')];
  const pattern = pathPattern(spec, 'cwd');
  const [first] = pattern.names;
  // A name without a slash is a file at any depth, also as `x/**` in what denies and asks.
  const isAnyDepth =
    first !== '**' && (pattern.names.length === 1 || (pattern.names.length === 2 && pattern.names[1] === '**'));
  const deep: FilePattern = { ...pattern, names: ['**', ...pattern.names] };
  if (how === 'allow')
    return pattern.names.length === 1 && first !== '**'
      ? [{ ...deep, unclear: 'it is about names at any depth' }]
      : [pattern];
  return isAnyDepth ? [deep] : [pattern];
}

function addMcp(findings: Findings, line: number, text: string, how: How, name: string): void {
  const parts = name.slice('mcp__'.length).split('__');
  // `a__b__c` is tool `b__c` of `a`, or tool `c` of `a__b`. Only what takes away may mean both.
  const splits = how === 'allow' || parts.length < 3 ? [1] : parts.slice(1).map((_, n) => n + 1);
  for (const at of splits) {
    const server = parts.slice(0, at).join('__');
    const tool = parts.slice(at).join('__') || '*';
    const isWild = tool === '*' || /\*/.test(server + tool);
    const why = isWild && how !== 'deny' ? 'a wildcard stands for tools that are not listed' : undefined;
    findings.rule(line, text, how, { kind: 'mcp', server, tool }, why === undefined ? {} : { why });
  }
}
