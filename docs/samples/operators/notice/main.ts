/** Runs the operator with settings from the environment; its board is standard output. */
import { runOperator } from 'espalier/runtime';
import { noticeOperator } from './options.ts';

const say = async (line: string): Promise<void> => void process.stdout.write(`${line}\n`);
const board = {
  post: (id: string, text: string) => say(`+ ${id} ${text}`),
  remove: (id: string) => say(`- ${id}`),
};
await runOperator(noticeOperator(board, process.env));
