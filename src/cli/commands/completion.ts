/** `espalier completion`: prints a shell completion script for our commands. */
import type { Command } from 'commander';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { completionModel } from '../completion/model.ts';
import { zshScript } from '../completion/zsh.ts';
import type { Terminal } from '../terminal/terminal.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export type Shell = keyof typeof scripts;

export const completion = (shell: Shell, program: Command, terminal: Terminal): void => {
  terminal.write(scripts[shell](completionModel(program)));
};
