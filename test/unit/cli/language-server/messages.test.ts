import { expect } from 'chai';
import { messageText, readMessages } from '../../../../src/cli/language-server/messages.ts';

async function read(text: string, partLength = text.length): Promise<readonly object[]> {
  const bytes = Buffer.from(text);
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += partLength)
      yield await Promise.resolve(bytes.subarray(at, at + partLength));
  }
  const found: object[] = [];
  for await (const message of readMessages(parts())) found.push(message);
  return found;
}

describe('messages of the language server', () => {
  const messages = [{ id: 1, method: 'initialize' }, { method: 'ü' }];
  const text = messages.map(messageText).join('');
  for (const partLength of [1, 7, text.length])
    it(`are read in parts of ${String(partLength)} bytes`, async () => {
      expect(await read(text, partLength)).to.deep.equal(messages.map((one) => ({ jsonrpc: '2.0', ...one })));
    });

  it('may have further headers', async () => {
    expect(await read('Content-Type: x\r\ncontent-length: 2\r\n\r\n{}')).to.deep.equal([{}]);
  });

  for (const [what, broken] of [
    ['no length', 'X: 1\r\n\r\n{}'],
    ['a length that is too large', 'Content-Length: 999999999999\r\n\r\n{}'],
    ['no JSON', 'Content-Length: 2\r\n\r\nno'],
    ['a list', 'Content-Length: 2\r\n\r\n[]'],
  ] as const)
    it(`end the server if one has ${what}`, async () => {
      const error: unknown = await read(broken).catch((reason: unknown) => reason);
      expect((error as Error).message).to.match(
        /^a message (has no valid Content-Length|is not a JSON object)$/,
      );
    });
});
