/** Connects the language server with an editor. */
import type { Writable } from 'node:stream';
import { systemClock } from '../../../lib/clock.ts';
import { CommandError } from '../../errors.ts';
import { messageText, ProtocolError, readMessages } from '../../language-server/messages.ts';
import { LanguageServer } from '../../language-server/server.ts';
import { packageInfo } from '../../package.ts';
import { schemas } from '../../schemas/catalogue.ts';

/** Resolves when the editor ends the server, or closes the input. @throws CommandError */
export async function serveEditor(input: AsyncIterable<Uint8Array>, output: Writable): Promise<void> {
  const { version } = packageInfo();
  const send = (message: object): void => {
    output.write(messageText(message));
  };
  const server = new LanguageServer({ send, clock: systemClock, schemas, version });
  try {
    for await (const message of readMessages(input)) if (server.receive(message)) return;
  } catch (error) {
    if (error instanceof ProtocolError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
