/** Completion as shells run it: each gets a line and is asked for the possible next words. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { allOf, completionModel } from '../../../src/cli/completion/model.ts';
import { createProgram, runProgram } from '../../../src/cli/program.ts';
import { skip } from '../../support/skip.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

const script = async (shell: string): Promise<string> => {
  const terminal = fakeTerminal();
  expect(await runProgram(['completion', shell], terminal)).to.equal(0);
  expect(terminal.errors).to.equal('');
  return terminal.output;
};

/** The last word is the one to complete, and may be empty. */
type Line = readonly string[];

/** The script that each shell runs, so that it answers with one word per line. */
const questions: Readonly<Record<string, (file: string, line: Line) => string>> = {
  bash: (file, line) => `
source ${file}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${String(line.length - 1)}
_espalier
printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Functions of zsh's own system print their arguments; completing files is left to zsh.
  zsh: (file, line) => `
compdef() { :; }
compset() { :; }
_message() { :; }
compadd() { shift; local w; for w in "$@"; do [[ $w == $PREFIX* ]] && print -r -- $w; done }
_describe() { local e; for e in "\${(@P)@[-1]}"; do [[ $e == $PREFIX* ]] && print -r -- \${e%%:*}; done }
_files() { print -rl -- $PREFIX*(N); }
source ${file}
words=(${line.map((word) => `'${word}'`).join(' ')})
CURRENT=${String(line.length)}
PREFIX=\${words[CURRENT]}
[[ $PREFIX == --*=* ]] && PREFIX=\${PREFIX#*=}
_espalier`,
  fish: (file, line) => `
source ${file}
complete -C '${line.join(' ')}' | string replace -r '\\t.*' ''`,
};

for (const shell of ['bash', 'zsh', 'fish']) {
  describe(`completion for ${shell}`, function () {
    this.timeout(30_000);
    let folder: string;
    let file: string;
    before(async function () {
      if (!isThere(shell)) skip(this, `there is no ${shell} on this machine`);
      folder = mkdtempSync(join(tmpdir(), 'completion-'));
      file = join(folder, 'script');
      writeFileSync(file, await script(shell));
      writeFileSync(join(folder, 'kube config.yaml'), '');
      writeFileSync(join(folder, 'kube.yaml'), '');
      mkdirSync(join(folder, 'kubes'));
    });
    after(() => {
      if (folder) rmSync(folder, { recursive: true });
    });

    function asked(...line: Line): readonly string[] {
      const question = questions[shell]?.(file, line) ?? '';
      const arguments_ = shell === 'zsh' ? ['-fc', question] : ['-c', question];
      const env = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'missing') };
      const { stdout, stderr } = spawnSync(shell, arguments_, { cwd: folder, encoding: 'utf8', env });
      expect(stderr).to.equal('');
      return stdout.split('\n').filter((word) => word !== '');
    }

    it('offers all commands, and those that begin with the word', () => {
      expect(asked('espalier', '')).to.include.members(['demo', 'installations', 'plan', 'completion']);
      expect(asked('espalier', 'dep')).to.have.members(['deployitems', 'deployers']);
      expect(asked('espalier', 'xyz')).to.deep.equal([]);
    });

    it('completes commands of groups, with all names of the group', () => {
      const wanted = ['inspect', 'interrupt'];
      expect(asked('espalier', 'installations', 'in')).to.have.members(wanted);
      expect(asked('espalier', 'inst', 'in')).to.have.members(wanted);
      expect(asked('espalier', 'inst', '')).to.not.include('demo');
    });

    it('completes the options of each command', () => {
      expect(asked('espalier', 'plan', '--del')).to.deep.equal(['--delete']);
      expect(asked('espalier', 'version', '--del')).to.deep.equal([]);
      expect(asked('espalier', 'plan', 'web', '-n', 'shop', '--show')).to.deep.equal(['--show-details']);
    });

    it('completes the values of an option, even after a namespace named like a command', () => {
      expect(asked('espalier', 'plan', '-o', '')).to.have.members(['text', 'json', 'yaml']);
      expect(asked('espalier', 'inst', 'inspect', '--output', 'w')).to.deep.equal(['wide']);
      // A namespace with the name of a command.
      expect(asked('espalier', 'plan', '-n', 'version', '--del')).to.deep.equal(['--delete']);
      expect(asked('espalier', 'plan', '-n', '')).to.deep.equal([]);
    });

    it('completes values after an equals sign', () => {
      const line = shell === 'bash' ? ['--output', '=', 'js'] : ['--output=js'];
      const answer = asked('espalier', 'plan', ...line).map((word) => word.replace('--output=', ''));
      expect(answer).to.deep.equal(['json']);
    });

    it('asks the program for names from the cluster, with the line so far', () => {
      const program = join(folder, 'espalier');
      writeFileSync(program, '#!/bin/sh\necho "$@" >> line\nprintf "web-1\\nweb-2\\n:4\\n"\n', {
        mode: 0o700,
      });
      const before = process.env['PATH'];
      process.env['PATH'] = `${folder}:${before ?? ''}`;
      try {
        expect(asked('espalier', 'plan', '-n', 'shop', 'web')).to.have.members(['web-1', 'web-2']);
        expect(readFileSync(join(folder, 'line'), 'utf8')).to.equal('__complete plan -n shop web\n');
        rmSync(join(folder, 'line'));
        expect(asked('espalier', 'jobs', 'list', '--namespace', 'web-2')).to.deep.equal(['web-2']);
        expect(readFileSync(join(folder, 'line'), 'utf8')).to.equal(
          '__complete jobs list --namespace web-2\n',
        );
      } finally {
        process.env['PATH'] = before;
        rmSync(program);
      }
    });

    it('offers nothing and prints no error if the program fails', () => {
      expect(asked('espalier', 'plan', 'web')).to.deep.equal([]);
    });

    it('offers files, also with blanks in their names, where a file is expected', () => {
      const answer = asked('espalier', 'plan', '--config', 'kube').map((word) => word.replaceAll('\\', ''));
      expect(answer).to.include.members(['kube config.yaml', 'kube.yaml']);
      expect(asked('espalier', 'plan', 'kube')).to.deep.equal([]);
    });

    it('completes arguments, and topics of help', () => {
      expect(asked('espalier', 'completion', '')).to.have.members(['bash', 'zsh', 'fish']);
      expect(asked('espalier', 'help', 'bl')).to.deep.equal(['blueprints']);
    });
  });
}

describe('completion', () => {
  const model = completionModel(createProgram(fakeTerminal(), () => undefined));

  it('completes every command and every option that has a help page', () => {
    const paths = allOf(model).map(({ path }) => path);
    expect(paths).to.include.members(['', '/plan', '/installations/inspect', '/targets/create']);
    const plan = allOf(model).find(({ path }) => path === '/plan');
    expect(plan?.options.flatMap(({ flags }) => flags)).to.include.members(['-n', '--namespace', '--help']);
  });

  it('refuses other shells and lists the supported ones', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram(['completion', 'tcsh'], terminal)).to.equal(2);
    expect(terminal.errors).to.contain('bash, zsh, fish');
  });
});
