/** Registries that cannot be used: a misspelt address ends the job at once, an outage ends it after a limit. */
import { expect } from 'chai';
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { connectionCode } from '../../../src/lib/connection.ts';
import { useCluster } from '../../support/cluster.ts';
import { root } from '../../support/landscape.ts';
import { skip } from '../../support/skip.ts';
import { startUnusableServers, type UnusableServers } from '../../support/unusable-servers.ts';

const installation = (baseUrl: string) =>
  root('shop', {
    spec: {
      componentDescriptor: {
        ref: {
          repositoryContext: { type: 'OCIRegistry', baseUrl },
          componentName: 'example.org/root',
          version: '1.0.0',
        },
      },
      blueprint: { ref: { resourceName: 'blueprint' } },
    },
  });

const RemoteUnavailable = (status: { conditions?: readonly { type: string }[] | undefined } | undefined) =>
  status?.conditions?.find(({ type }) => type === 'RemoteUnavailable');

describe('an installation whose registry cannot be used', () => {
  let servers: UnusableServers;
  before(async () => {
    servers = await startUnusableServers();
  });
  after(() => servers.stop());

  describe('with the default limit', () => {
    const here = useCluster({ config: { registry: { allowPlainHttp: true } } });
    const rows = [
      [
        'a certificate that is not trusted',
        () => `https://${servers.untrusted}`,
        'unknown authority; to trust it, add .* registry.caFiles',
      ],
      ['an expired certificate', () => `https://${servers.expired}`, 'UNABLE_TO_VERIFY|expired'],
      ['https:// for plain HTTP', () => `https://${servers.plain}`, 'check scheme'],
      [
        'http:// for a server that speaks another protocol',
        () => `http://${servers.garbage}`,
        'check scheme',
      ],
    ] as const;
    for (const [what, url, advice] of rows) {
      it(`fails at once because of ${what}, and says what to do`, async () => {
        const scene = await here.scene();
        await scene.create(installation(url()));
        const { status } = await scene.finished('shop', 'Failed');
        expect(status?.lastError).to.include({ reason: 'ResolveBlueprint' });
        expect(status?.lastError?.message).to.match(new RegExp(advice)).and.contain(new URL(url()).host);
        await scene.delete('shop');
        await scene.empty();
      });
    }

    it('reports since when it retries, and no longer does when the registry answers', async () => {
      let isDown = true;
      const server = createServer((_, response) => response.writeHead(isDown ? 503 : 404).end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      try {
        const scene = await here.scene();
        await scene.create(installation(`http://127.0.0.1:${port}`));
        const { status } = await scene.busy('shop', 'Init', 'ResolveBlueprint');
        expect(RemoteUnavailable(status)).to.include({ status: 'True', reason: 'ServerUnavailable' });
        isDown = false;
        const end = await scene.finished('shop', 'Failed');
        expect(end.status?.lastError?.message).to.contain('not found');
        expect(RemoteUnavailable(end.status)).to.equal(undefined);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });

  describe('with a limit of a second', () => {
    const limits = { ...defaults.limits, remoteRetryMs: 1000 };
    const here = useCluster({ config: { registry: { allowPlainHttp: true }, limits } });

    it('fails after the limit if no server listens there, and names the configuration key', async () => {
      const scene = await here.scene();
      await scene.create(installation(`http://${servers.closed}`));
      const { status } = await scene.finished('shop', 'Failed');
      expect(status?.lastError?.message)
        .to.contain('cannot be reached (ECONNREFUSED)')
        .and.contain('gave up after 1s (limits.remoteRetryTimeout in the configuration)');
      expect(RemoteUnavailable(status)).to.equal(undefined);
    });

    it('fails if its name is not found, and suggests to check the spelling', async function () {
      const why = await lookup('nothing.invalid').catch(connectionCode);
      if (why !== 'ENOTFOUND') skip(this, 'the name server here does not report unknown names');
      const scene = await here.scene();
      await scene.create(installation('https://nothing.invalid'));
      const { status } = await scene.finished('shop', 'Failed');
      expect(status?.lastError?.message).to.contain('ENOTFOUND').and.contain('check how it is spelt');
    });
  });
});
