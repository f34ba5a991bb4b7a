/** The registry credentials that a pod gets: of its item, of the Context, and of the operator. */
import { expect } from 'chai';
import { pullSecrets } from '../../../../deployers/container/credentials.ts';
import { defaultSettings } from '../../../../deployers/container/settings.ts';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import { dockerCredentials, type Credentials } from '../../../../src/components/credentials.ts';
import { createAuthority } from '../../../../src/lib/certificates.ts';

const LOGIN = { username: 'u', password: 'p' };

describe('the registry credentials of a pod', () => {
  const ref = { repositoryContext: { type: 'OCIRegistry', baseUrl: 'example.org/stock' } };
  const config = { registryPullSecrets: [], componentDescriptor: { ref }, blueprint: { ref: {} } };
  const ctx = { config, context: {}, item: { metadata: { namespace: 'a' } } } as never;
  const settings = defaultSettings;
  const found = (withDefaults?: (credentials: Credentials) => Credentials, configured: string[] = []) =>
    pullSecrets(
      ctx,
      { client: {} as never, settings, withDefaults, authorities: () => configured },
      'example.org/tool:1',
    );
  const read = (secret: Readonly<Record<string, string>> | undefined): Credentials =>
    dockerCredentials(secret?.['.dockerconfigjson'] ?? '', 'here');

  it('are those of the operator for registries without others, with the authority for the init container', async () => {
    const authority = createAuthority('of-the-registry').certificate;
    const auths = { 'example.org': { ...LOGIN, certificateAuthority: authority } };
    const defaults = dockerCredentials(JSON.stringify({ auths }), 'a file');
    expect(await found()).to.deep.equal({ image: undefined, descriptor: undefined, blueprint: undefined });
    const { image, descriptor } = await found((credentials) => credentials.before(defaults));
    expect(read(image).for('example.org', 'tool')).to.deep.equal(LOGIN);
    expect(read(descriptor).for('example.org', 'stock')).to.deep.equal(LOGIN);
    expect(read(descriptor).authorities('example.org', 'stock')).to.equal(authority.trim());
  });

  describe('from a secret of the item', () => {
    const asked: string[] = [];
    const client = {
      get: (_kind: unknown, key: string) => {
        asked.push(key);
        const text = JSON.stringify({ auths: { 'example.org': LOGIN } });
        return Promise.resolve({ data: { '.dockerconfigjson': Buffer.from(text).toString('base64') } });
      },
    } as never;
    const from = (namespace: string, pullSecretNamespaces: readonly string[] = []) => {
      asked.length = 0;
      const registryPullSecrets = [{ name: 'pull', namespace }];
      const item = { metadata: { namespace: 'a', name: 'x' } };
      return pullSecrets(
        { config: { registryPullSecrets }, context: {}, item } as never,
        { client, settings: { ...settings, pullSecretNamespaces } },
        'example.org/tool:1',
      );
    };

    for (const [title, namespace, shared] of [
      ['in its own namespace', 'a', []],
      ['in a namespace that the configuration lists', 'shared', ['shared']],
      ['in any namespace if the configuration allows all', 'b', ['*']],
    ] as const) {
      it(`are read ${title}`, async () => {
        const { image } = await from(namespace, shared);
        expect(read(image).for('example.org', 'tool')).to.deep.equal(LOGIN);
        expect(asked).to.deep.equal([`${namespace}/pull`]);
      });
    }

    it('are not read in the namespace of another tenant', async () => {
      const error: unknown = await from('b', ['shared']).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ConfigurationError);
      expect((error as Error).message).to.contain('add "b" to container.pullSecretNamespaces');
      expect(asked).to.deep.equal([]);
    });
  });

  it('contain the authorities of the configuration for the init container, also without a login', async () => {
    const authority = createAuthority('of-the-configuration').certificate;
    const { image, descriptor } = await found(undefined, [authority]);
    expect(image).to.equal(undefined);
    expect(read(descriptor).authorities('example.org', 'stock')).to.equal(authority.trim());
    expect(read(descriptor).for('example.org', 'stock')).to.equal(undefined);
  });
});
