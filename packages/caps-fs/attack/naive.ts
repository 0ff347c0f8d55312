/**
 * The control of the attack: a directory as other tools confine it. Every path is checked with `realpath` and
 * then used. If the attacker finds no way out of this one, the attack proves nothing.
 */
import fs from 'node:fs';
import path from 'node:path';

export class Naive {
  readonly #root: string;

  constructor(root: string) {
    this.#root = fs.realpathSync(root);
  }

  /** As `validate_within_dir` of Hermes, and every server of that kind. */
  #checked(name: string): string {
    const full = path.join(this.#root, name);
    const real = fs.realpathSync(full);
    if (real !== this.#root && !real.startsWith(`${this.#root}/`)) throw new Error('outside');
    return full;
  }

  /** For what need not be there yet. */
  #parentChecked(name: string): string {
    return path.join(this.#checked(path.dirname(name)), path.basename(name));
  }

  async read(name: string): Promise<Uint8Array> {
    return fs.readFileSync(this.#checked(name));
  }
  async list(name = '.'): Promise<readonly string[]> {
    return fs.readdirSync(this.#checked(name));
  }
  async stat(name: string): Promise<{ readonly size: number }> {
    return fs.statSync(this.#checked(name));
  }
  async write(name: string, data: string): Promise<void> {
    fs.writeFileSync(this.#parentChecked(name), data);
  }
  async replace(name: string, data: string): Promise<void> {
    fs.writeFileSync(this.#checked(name), data);
  }
  async append(name: string, data: string): Promise<void> {
    fs.appendFileSync(this.#checked(name), data);
  }
  async edit(name: string, from: string, to: string): Promise<void> {
    const text = fs.readFileSync(this.#checked(name), 'utf8');
    fs.writeFileSync(this.#checked(name), text.replace(from, to));
  }
  async mkdir(name: string): Promise<void> {
    fs.mkdirSync(this.#parentChecked(name));
  }
  async remove(name: string, recursive = false): Promise<void> {
    fs.rmSync(this.#parentChecked(name), { recursive });
  }
  async rename(from: string, to: string): Promise<void> {
    fs.renameSync(this.#parentChecked(from), this.#parentChecked(to));
  }
  async copy(from: string, to: string): Promise<void> {
    fs.copyFileSync(this.#checked(from), this.#parentChecked(to));
  }
  async subdir(name: string): Promise<Naive> {
    return new Naive(this.#checked(name));
  }
  /** The sizes of what is in it. */
  async entries(name: string): Promise<readonly number[]> {
    return fs.readdirSync(this.#checked(name)).flatMap((entry) => {
      try {
        return [fs.statSync(this.#checked(path.join(name, entry))).size];
      } catch {
        return [];
      }
    });
  }
  /** As everybody's `rm -r` in a loop: only what is a directory, and no link, is gone into. */
  async removeTree(name: string): Promise<void> {
    for (const entry of fs.readdirSync(this.#checked(name), { withFileTypes: true })) {
      const below = path.join(name, entry.name);
      if (entry.isDirectory()) await this.removeTree(below);
      else fs.unlinkSync(path.join(this.#root, below));
    }
    fs.rmdirSync(path.join(this.#root, name));
  }
  async glob(from = '.'): Promise<readonly string[]> {
    return this.#walk(from);
  }
  async search(from = '.'): Promise<string> {
    return this.#walk(from)
      .map((name) => {
        try {
          return fs.readFileSync(this.#checked(name), 'utf8');
        } catch {
          return '';
        }
      })
      .join('\n');
  }

  #walk(dir: string): string[] {
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(this.#checked(dir), { withFileTypes: true });
    } catch {
      return [];
    }
    return entries.flatMap((entry) => {
      const name = path.join(dir, entry.name);
      return entry.isDirectory() ? this.#walk(name) : [name];
    });
  }
  async chmod(name: string, mode: number): Promise<void> {
    fs.chmodSync(this.#checked(name), mode);
  }
  async setTimes(name: string, ms: number): Promise<void> {
    fs.utimesSync(this.#checked(name), ms / 1_000, ms / 1_000);
  }
  async truncate(name: string, size: number): Promise<void> {
    fs.truncateSync(this.#checked(name), size);
  }
  async writeAt(name: string, data: string): Promise<void> {
    const fd = fs.openSync(this.#checked(name), 'r+');
    fs.writeSync(fd, data, 2);
    fs.closeSync(fd);
  }
  async symlink(text: string, name: string): Promise<void> {
    fs.symlinkSync(text, this.#parentChecked(name));
  }
  async readlink(name: string): Promise<string> {
    return fs.readlinkSync(this.#parentChecked(name));
  }
  /** Only a directory that is no link is entered, as by everybody's `cp -r` in a loop. */
  async copyTree(from: string, to: string): Promise<void> {
    fs.mkdirSync(this.#parentChecked(to));
    for (const entry of fs.readdirSync(this.#checked(from), { withFileTypes: true })) {
      const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
      if (entry.isDirectory()) await this.copyTree(source, target);
      else if (entry.isFile()) fs.copyFileSync(this.#checked(source), path.join(this.#root, target));
    }
  }
}
