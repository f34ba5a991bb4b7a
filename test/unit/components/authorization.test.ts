/** Tokens of registries, which tenants may run. */
import { expect } from 'chai';
import { Authorization } from '../../../src/components/authorization.ts';
import { ContentInvalid } from '../../../src/components/errors.ts';
import type { RegistryRequest, Transport } from '../../../src/components/transport.ts';
import { FakeClock } from '../../support/clock.ts';

describe('a token of a registry', () => {
  const sent: RegistryRequest[] = [];
  const registry = new URL('https://r.invalid');
  const issued = (token: string): Promise<string | undefined> => {
    const transport = {
      clock: new FakeClock(),
      urlOf: (address: string) => new URL(address),
      send: (request: RegistryRequest) => {
        sent.push(request);
        const body = Buffer.from(JSON.stringify({ token }));
        return Promise.resolve({ status: 200, header: () => undefined, body });
      },
    } as unknown as Transport;
    const challenge = {
      scheme: 'bearer',
      realm: 'https://r.invalid/token',
      service: undefined,
      scope: undefined,
    } as const;
    const login = { used: undefined, authorities: undefined, problems: [], registry };
    return new Authorization(transport).answer('key', challenge, login, 'scope');
  };

  it('may be long', async () => {
    const token = 'x'.repeat(8 * 2 ** 10);
    expect(await issued(token)).to.equal(`Bearer ${token}`);
  });

  it('comes from an address that the registry has named, not a user', async () => {
    await issued('t');
    expect(sent.at(-1)?.namedBy).to.equal(registry);
  });

  it('is not kept if it is far too long', async () => {
    const error: unknown = await issued('x'.repeat(2 ** 20 - 100)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ContentInvalid);
    expect((error as Error).message).to.contain('the limit of 65536 is fixed');
  });
});
