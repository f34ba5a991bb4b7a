/** The command line with the kubeconfig of a test's cluster, and a folder for files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal, type FakeTerminal } from '../unit/cli/terminal.ts';

type Ended = FakeTerminal & { readonly code: number };

export interface CommandLine {
  /** The path of a file in the folder, which exists during one test. */
  file(name: string): string;
  /** Writes a file into the folder. @returns its path */
  write(name: string, text: string, mode?: number): string;
  run(...args: readonly string[]): Promise<Ended>;
}

/** @param kubeconfig text; called before each test */
export function useCommandLine(kubeconfig: () => string): CommandLine {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    commandLine.write('kubeconfig', kubeconfig());
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const commandLine: CommandLine = {
    file: (name) => join(folder, name),
    write(name, text, mode = 0o600) {
      const path = join(folder, name);
      writeFileSync(path, text, { mode });
      return path;
    },
    async run(...args) {
      const terminal = fakeTerminal({ env: { KUBECONFIG: join(folder, 'kubeconfig') } });
      const code = await runProgram(args, terminal);
      return Object.assign(terminal, { code });
    },
  };
  return commandLine;
}
