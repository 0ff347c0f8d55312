/**
 * Makes an API reference of entry points with typedoc, as pages of HTML.
 *
 * Promise: each entry point stands under the name by which it is imported. What typedoc warns of is returned: an
 * exported name without a doc comment, a link that leads nowhere. No page tells where it was made.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Application, Logger, LogLevel, type ProjectReflection, ReflectionKind, type TypeDocOptions } from 'typedoc';
import { namesOf, publishable, ROOT } from '../pack/packages.ts';

export interface Face {
  /** As it is imported: `@hob/vat/store`. */
  readonly name: string;
  /** Its source. */
  readonly file: string;
}

/** A program that another process starts, and no module to import. */
const isProgram = (name: string): boolean => name.endsWith('/child');

/** The entry points of all packages. */
export function facesOfAll(): Face[] {
  return publishable()
    .flatMap(namesOf)
    .filter(([name]) => !isProgram(name))
    .map(([name, [file = '']]) => ({ name, file }));
}

/** Keeps what is wrong. */
class Faults extends Logger {
  readonly lines: string[] = [];
  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn) this.lines.push(message);
  }
}

/** Writes the pages into `target`, which is emptied first. Returns what is wrong, and then writes nothing. */
export async function makeReference(faces: readonly Face[], target: string): Promise<string[]> {
  mkdirSync(join(ROOT, '.hob'), { recursive: true });
  const work = mkdtempSync(join(ROOT, '.hob', 'api-'));
  try {
    const faults = new Faults();
    const app = await Application.bootstrap({
      ...settings,
      tsconfig: configFor(faces, work),
      entryPoints: faces.map(({ file }) => file),
    });
    app.logger = faults;
    const project = await app.convert();
    if (project) nameModules(project, faces);
    if (project) app.validate(project);
    if (faults.lines.length > 0 || !project) return faults.lines;
    rmSync(target, { recursive: true, force: true });
    await app.generateDocs(project, target);
    return faults.lines;
  } finally {
    rmSync(work, { recursive: true });
  }
}

const settings: Partial<TypeDocOptions> = {
  name: 'Hob',
  basePath: ROOT,
  readme: 'none',
  excludePrivate: true,
  excludeInternal: true,
  // Links to lines would need the address of the repository, and name files of this machine without it.
  disableSources: true,
  // The names of types that are used and not exported say enough where they stand.
  validation: { notDocumented: true, invalidLink: true, invalidPath: true, notExported: false },
  requiredToBeDocumented: ['Class', 'Interface', 'Function', 'Variable', 'TypeAlias', 'Enum'],
};

function configFor(faces: readonly Face[], work: string): string {
  const file = join(work, 'tsconfig.json');
  const compilerOptions = {
    // The packages import each other by name.
    paths: Object.fromEntries(publishable().flatMap(namesOf)),
    typeRoots: [join(ROOT, 'node_modules', '@types')],
  };
  const files = faces.map((face) => face.file);
  writeFileSync(file, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files }));
  return file;
}

/** typedoc names a module after its file. */
function nameModules(project: ProjectReflection, faces: readonly Face[]): void {
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  for (const module of modules.length > 0 ? modules : [project]) {
    const source = project.getSymbolIdFromReflection(module)?.fileName;
    const face = faces.find(({ file }) => source !== undefined && resolve(source) === file);
    if (face) module.name = face.name;
  }
}
