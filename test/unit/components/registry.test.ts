/** The client of registries, with a registry in this process and a clock that the tests move. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  createComponentRepositories,
  type ComponentRepositories,
} from '../../../src/components/component-repositories.ts';
import { Credentials, dockerCredentials } from '../../../src/components/credentials.ts';
import { buildArtifact } from '../../../src/components/artifact.ts';
import {
  ContentInvalid,
  RegistryMisconfigured,
  RegistryRefused,
  RegistryUnavailable,
  RepositoryUnusable,
} from '../../../src/components/errors.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { FakeClock } from '../../support/clock.ts';
import { RecordedBudget } from '../../support/recorded-budget.ts';
import { TestRegistry } from '../../support/registry.ts';
import { eventually } from '../../support/waiting.ts';

const LOGIN = { username: 'robot', password: 's3cret' };

describe('a registry', () => {
  let registry: TestRegistry;
  let repositories: ComponentRepositories;
  let clock: FakeClock;
  const start = async (
    options: Parameters<typeof TestRegistry.start>[0] = {},
    more: object = {},
  ): Promise<void> => {
    registry = await TestRegistry.start(options);
    clock = new FakeClock();
    repositories = createComponentRepositories({ clock, rng: seededRng(1), allowPlainHttp: true, ...more });
  };
  afterEach(async () => {
    await repositories.close();
    await registry.stop();
  });
  const credentials = () =>
    dockerCredentials(JSON.stringify({ auths: { [registry.address]: LOGIN } }), 'here');
  const client = (login = true) =>
    repositories.registry(registry.address, login ? credentials() : Credentials.none);
  it('takes memory for large contents from the share of the namespace, if it is known', async () => {
    const budget = new RecordedBudget(2 ** 20);
    await start({}, { downloads: { maxBytes: 2 ** 20, budget }, cacheBytes: 0 });
    const content = Buffer.alloc(400_000, 'x');
    const large = buildArtifact({ mediaType: 'a/config', content: Buffer.from('{}') }, [
      { mediaType: 'a/layer', content },
    ]);
    await client(false).push('team/large', '1', large);
    const blob = { digest: `sha256:${createHash('sha256').update(content).digest('hex')}` };
    for (const namespace of ['team-a', undefined]) {
      const store = repositories.registry(registry.address, Credentials.none, namespace);
      expect(await store.blob('team/large', blob)).to.have.length(400_000);
    }
    expect(budget.keys).to.deep.equal(['namespace team-a', `server ${registry.address}`]);
  });

  const artifact = buildArtifact({ mediaType: 'a/config', content: Buffer.from('{}') }, [
    { mediaType: 'a/layer', content: Buffer.from('layer') },
  ]);
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );
  /** Moves time forward until the work has ended, so that pauses cost nothing. */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const settled = work.finally(() => (isOver = true));
    settled.catch(() => undefined);
    while (!isOver) {
      await clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return settled;
  };

  it('returns what was stored, and nothing for missing blobs', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    const found = await client().artifact('team/app', '1');
    expect(found?.digest).to.equal(artifact.digest);
    expect(Buffer.from(await client().blob('team/app', found!.layers[0]!)).toString()).to.equal('layer');
    expect(await client().artifact('team/app', '2')).to.equal(undefined);
  });

  it('does not receive again what it has', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    await client().push('team/app', '2', artifact);
    expect(registry.requests(/uploads/, 202)).to.have.length(2);
  });

  it('issues a token that is used until it expires', async () => {
    await start({ login: LOGIN, tokenSeconds: 65 });
    await client().push('team/app', '1', artifact);
    for (let i = 0; i < 3; i++) await client().artifact('team/app', '1');
    expect(registry.issued).to.equal(2);
    await clock.advance(61_000);
    await client().artifact('team/app', '1');
    expect(registry.issued).to.equal(3);
  });

  it('gets a request for another token if it rejects the previous one', async () => {
    await start({ login: LOGIN });
    await client().push('team/app', '1', artifact);
    registry.forgetTokens();
    expect(await client().artifact('team/app', '1')).to.have.property('digest', artifact.digest);
  });

  it('serves a cached blob only to clients that may read its manifest', async () => {
    await start({ login: LOGIN });
    await client().push('team/app', '1', artifact);
    const { layers } = (await client().artifact('team/app', '1'))!;
    await client().blob('team/app', layers[0]!);
    registry.seen.length = 0;
    await client().blob('team/app', layers[0]!);
    expect(registry.seen).to.have.length(0);
    expect(await failure(client(false).artifact('team/app', '1'))).to.be.instanceOf(RegistryRefused);
  });

  it('with a rejection is reported without the credentials, and with what is missing', async () => {
    await start({ login: { ...LOGIN, password: 'other' } });
    const wrong = (await failure(client().artifact('team/app', '1'))) as Error;
    expect(wrong).to.be.instanceOf(RegistryRefused);
    expect(wrong.message).to.contain('not accepted').and.not.to.contain('s3cret');
    const none = (await failure(client(false).artifact('team/app', '1'))) as Error;
    expect(none.message).to.contain('there are no credentials for it');
    expect(none.message).not.to.contain('said by the registry');
  });

  it('that is busy gets retries after growing pauses', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    let left = 2;
    registry.fault = (_, response) => {
      if (left-- <= 0) return false;
      response.writeHead(left === 1 ? 429 : 503).end();
      return true;
    };
    const began = clock.now();
    expect(await inTime(client().artifact('team/app', '1'))).to.have.property('digest', artifact.digest);
    expect(clock.now() - began).to.be.at.least(160 + 320);
  });

  it('that sends a retry time gets no request before it', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    let left = 1;
    registry.fault = (_, response) => {
      if (left-- <= 0) return false;
      response.writeHead(429, { 'retry-after': '7' }).end();
      return true;
    };
    const began = clock.now();
    await inTime(client().artifact('team/app', '1'));
    expect(clock.now() - began).to.be.at.least(7000);
  });

  it('that sends a retry date gets no request before it', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    let left = 1;
    registry.fault = (_, response) => {
      if (left-- <= 0) return false;
      const date = new Date(clock.wall() + 5000).toUTCString();
      response.writeHead(503, { 'retry-after': date }).end();
      return true;
    };
    const began = clock.now();
    await inTime(client().artifact('team/app', '1'));
    expect(clock.now() - began).to.be.within(4000, 6000);
  });

  it('that requests a longer pause than the job may take is given up for now', async () => {
    await start();
    registry.fault = (_, response) => {
      response.writeHead(429, { 'retry-after': '3600' }).end();
      return true;
    };
    const error = await failure(client().artifact('team/app', '1'));
    expect(error).to.be.instanceOf(RegistryUnavailable);
    expect((error as Error).message).to.contain('answers 429');
    expect(registry.seen).to.have.length(1);
  });

  it('that sends very slowly is not waited for without limit', async () => {
    await start({}, { deadlineMs: 300 });
    registry.fault = (_, response) => {
      void eventually('the client gives up', () => {
        if (!response.destroyed) response.write(' ');
        return response.destroyed;
      });
      return true;
    };
    const error = await failure(client().artifact('team/app', '1'));
    expect(error).to.be.instanceOf(RegistryUnavailable).with.property('isPassing', true);
    expect((error as Error).message).to.contain('takes more than 0.3 s for team/app:1');
  });

  it('that closes the connection in the middle of a blob is retried', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    const found = await client().artifact('team/app', '1');
    let left = 1;
    registry.fault = ({ url = '' }, response) => {
      if (!url.includes('/blobs/') || left-- <= 0) return false;
      response.writeHead(200, { 'content-length': '5' });
      response.write('lay');
      setImmediate(() => response.destroy());
      return true;
    };
    const bytes = await inTime(client().blob('team/app', found!.layers[0]!));
    expect(Buffer.from(bytes).toString()).to.equal('layer');
  });

  it('that redirects in a loop is rejected', async () => {
    await start();
    registry.fault = ({ url = '' }, response) => {
      response.writeHead(302, { location: url }).end();
      return true;
    };
    const error = await failure(client().artifact('team/app', '1'));
    expect(error)
      .to.be.instanceOf(ContentInvalid)
      .with.property('message')
      .that.contains('to an address that is not allowed');
    expect(registry.seen.length).to.be.at.most(6);
  });

  it('that rejects with 403 is not retried, and its text is not repeated', async () => {
    await start();
    registry.fault = (_, response) => {
      response
        .writeHead(403)
        .end('{"errors": [{"code": "DENIED", "message": "token abc123 is not allowed"}]}');
      return true;
    };
    const error = (await failure(client().artifact('team/app', '1'))) as Error;
    expect(error).to.be.instanceOf(RegistryRefused);
    expect(error.message).to.contain('403, DENIED').and.not.to.contain('abc123');
  });

  it('serves a cached blob to no other credentials', async () => {
    await start({ login: LOGIN });
    await client().push('team/app', '1', artifact);
    const { layers } = (await client().artifact('team/app', '1'))!;
    await client().blob('team/app', layers[0]!);
    expect(await failure(client(false).blob('team/app', layers[0]!))).to.be.instanceOf(RegistryRefused);
  });

  it('that is down is given up for now', async () => {
    await start();
    registry.fault = (_, response) => {
      response.writeHead(502).end();
      return true;
    };
    const error = await failure(inTime(client().artifact('team/app', '1')));
    expect(error).to.be.instanceOf(RegistryUnavailable).with.property('isPassing', true);
    expect(registry.seen).to.have.length(4);
  });

  it('without a listening server is reported at once', async () => {
    await start();
    const nobody = repositories.registry('127.0.0.1:1', Credentials.none);
    const error = (await failure(nobody.artifact('a', '1'))) as Error;
    expect(error).to.be.instanceOf(RegistryUnavailable);
    expect(error.message).to.contain('cannot be reached (ECONNREFUSED)');
  });

  it('cannot make the client read without limit', async () => {
    await start({}, { limits: { maxManifestBytes: 1000, maxBlobBytes: 1000 } });
    registry.fault = (_, response) => {
      response.end('x'.repeat(2000));
      return true;
    };
    expect(await failure(client().artifact('team/app', '1')))
      .to.be.instanceOf(ContentInvalid)
      .with.property('message')
      .that.contains('more than 1000 bytes');
  });

  it('cannot return another manifest than the requested one', async () => {
    await start();
    await client().push('team/app', '1', artifact);
    const other = { ...registry.manifests.get('team/app:1')!, bytes: Buffer.from('{"schemaVersion":2}') };
    registry.manifests.set(`team/app:${artifact.digest}`, other);
    const error = await failure(client().artifact('team/app', artifact.digest));
    expect(error).to.be.instanceOf(ContentInvalid).with.property('message').that.contains('is damaged');
  });

  it('does not reveal credentials to the server it redirects to', async () => {
    await start({ login: LOGIN, auth: 'basic', redirectsBlobs: true });
    await client().push('team/app', '1', artifact);
    const found = await client().artifact('team/app', '1');
    await client().blob('team/app', found!.layers[0]!);
    expect(registry.requests(/^\/elsewhere/).map(({ authorization }) => authorization)).to.deep.equal([
      undefined,
    ]);
  });

  it('cannot redirect to the link of this machine', async () => {
    await start({ redirectsBlobs: 'http://169.254.169.254/latest' });
    await client().push('team/app', '1', artifact);
    const found = await client().artifact('team/app', '1');
    const error = await failure(client().blob('team/app', found!.layers[0]!));
    expect(error).to.be.instanceOf(RegistryMisconfigured);
    expect((error as Error).message).to.contain('registry.allowLocalAddresses');
  });

  it('without TLS is used only if that is allowed', async () => {
    await start({}, { allowPlainHttp: false });
    expect(() => repositories.registry(`http://${registry.address}`, Credentials.none)).to.throw(
      RepositoryUnusable,
      'plain HTTP',
    );
    expect(await failure(client().artifact('a', '1')))
      .to.be.instanceOf(RegistryMisconfigured)
      .with.property('message')
      .that.contains('check scheme (https:// or http://) and port');
    expect(registry.seen).to.have.length(0);
  });
});
