/** Runs the operator with settings from the environment; its board is standard output. */
import { ShutdownError } from 'espalier/runtime';
import { settingsFrom, startNotices } from './process.ts';

const say = async (line: string): Promise<void> => void process.stdout.write(`${line}\n`);
const board = {
  post: (id: string, text: string) => say(`+ ${id} ${text}`),
  remove: (id: string) => say(`- ${id}`),
};
const operator = await startNotices(settingsFrom(process.env), board, (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void operator.stop());
await operator.leads.catch((error: unknown) => {
  if (!(error instanceof ShutdownError)) throw error;
});
