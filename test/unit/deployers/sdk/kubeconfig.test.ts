import { expect } from 'chai';
import {
  forbiddenIn,
  forbiddenInContent,
  namesCluster,
  withCurrentContext,
} from '../../../../deployers/sdk/kubeconfig.ts';

const VALID = '[client-certificate-data client-key-data token username password]';
const withUser = (user: unknown): object => ({
  users: [
    { name: 'ok', user: { token: 't' } },
    { name: 'u1', user },
  ],
});

describe('a kubeconfig in a target', () => {
  const fine: readonly (readonly [string, unknown])[] = [
    ['a token', withUser({ token: 't' })],
    ['a password', withUser({ username: 'u', password: 'p' })],
    ['inline certificates', withUser({ 'client-certificate-data': 'a', 'client-key-data': 'b' })],
    ['empty fields', withUser({ tokenFile: '', 'client-key': null, exec: {}, as: '' })],
    ['no user', {}],
    ['users that are not a list', { users: { exec: 1 } }],
    ['a user without credentials', { users: [null, 'x', {}] }],
    [
      'an inline certificate authority',
      { clusters: [{ name: 'c', cluster: { 'certificate-authority-data': 'a' } }] },
    ],
    ['a string that is not a map', 'hello'],
  ];
  for (const [title, kubeconfig] of fine) {
    it(`may have ${title}`, () => {
      expect(forbiddenIn(kubeconfig)).to.equal(undefined);
      expect(forbiddenIn(JSON.stringify(kubeconfig))).to.equal(undefined);
    });
  }

  const program = '; aws would run beside the deployer, put a token into the kubeconfig instead';
  const users: readonly (readonly [string, object, string])[] = [
    ['client certificate files', { 'client-certificate': '/c' }, ''],
    ['client key files', { 'client-key': '/k' }, ''],
    ['token files', { tokenFile: '/t' }, ''],
    ['exec configurations', { exec: { command: 'aws' } }, program],
    ['exec configurations', { exec: { command: [] } }, ''],
    ['exec configurations', { exec: 'aws' }, ''],
    ['auth provider configurations', { 'auth-provider': { name: 'aws' } }, program],
  ];
  for (const [what, user, wayOut] of users) {
    it(`must not have ${JSON.stringify(user)}`, () => {
      const refusal = `${what} are not supported in a target kubeconfig (user "u1"), the valid fields are: ${VALID}${wayOut}`;
      expect(forbiddenIn(withUser(user))).to.equal(refusal);
      expect(forbiddenIn(JSON.stringify(withUser(user)))).to.equal(refusal);
    });
  }

  for (const field of ['as', 'as-uid', 'as-groups', 'as-user-extra']) {
    it(`must not have impersonation by ${field}`, () => {
      expect(forbiddenIn(withUser({ token: 't', [field]: ['x'] }))).to.equal(
        `impersonation is not supported in a target kubeconfig, the valid fields are: ${VALID}`,
      );
    });
  }

  it('must not have a certificate authority in a file', () => {
    const clusters = [{ name: 'c1', cluster: { 'certificate-authority': '/ca' } }];
    expect(forbiddenIn({ clusters })).to.equal(
      'certificate authority files are not supported in a target kubeconfig (cluster "c1"), use certificate-authority-data',
    );
  });

  it('must be valid, and is not repeated otherwise', () => {
    expect(forbiddenIn('a: [secret')).to.equal('the kubeconfig of the target is not valid YAML');
  });

  it('is found in the content of the target and in the kubeconfig within', () => {
    const bad = withUser({ tokenFile: '/t' });
    expect(forbiddenInContent(bad)).to.match(/^token files/);
    expect(forbiddenInContent({ kubeconfig: bad })).to.match(/^token files/);
    expect(forbiddenInContent({ kubeconfig: JSON.stringify(bad) })).to.match(/^token files/);
    expect(forbiddenInContent({ ...bad, kubeconfig: {} }), 'what is used is the kubeconfig').to.equal(
      undefined,
    );
    for (const content of [undefined, 'text', [bad]]) expect(forbiddenInContent(content)).to.equal(undefined);
  });
});

describe('a kubeconfig', () => {
  for (const [document, expected] of [
    [{ clusters: [{}] }, true],
    [{ clusters: [] }, false],
    [{ clusters: {} }, false],
    [{}, false],
    ['text', false],
  ] as const) {
    it(`${expected ? 'names a' : 'names no'} cluster: ${JSON.stringify(document)}`, () => {
      expect(namesCluster(document)).to.equal(expected);
    });
  }

  const one = { contexts: [{ name: 'only' }], more: 1 };
  it('with one context uses it as the current one', () => {
    for (const current of [{}, { 'current-context': '' }, { 'current-context': null }])
      expect(JSON.parse(withCurrentContext(JSON.stringify({ ...one, ...current })))).to.deep.equal({
        ...one,
        'current-context': 'only',
      });
  });

  for (const [title, text] of [
    ['that names the current one', JSON.stringify({ ...one, 'current-context': 'x' })],
    ['with two contexts', JSON.stringify({ contexts: [{ name: 'a' }, { name: 'b' }] })],
    ['without contexts', '{}'],
    ['whose contexts are not a list', '{"contexts":"x"}'],
    ['that is not a map', 'hello'],
    ['that is empty', ''],
    ['that is invalid', 'a: [b'],
  ] as const) {
    it(`${title} is unchanged`, () => {
      expect(withCurrentContext(text)).to.equal(text);
    });
  }
});
