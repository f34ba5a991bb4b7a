/** Which targets `espalier doctor --targets` reports. */
import { createPrivateKey } from 'node:crypto';
import { expect } from 'chai';
import { credentialsIn, targetFindings, type TriedTarget } from '../../../src/cli/doctor/targets.ts';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';

const UNTIL = Date.UTC(2026, 0, 1);
const token = (claims: object): string =>
  ['{}', JSON.stringify(claims), 's'].map((part) => Buffer.from(part).toString('base64url')).join('.');
const kubeconfig = (user: object): string =>
  JSON.stringify({ users: [{ name: 'admin', user }], clusters: [] });

describe('espalier doctor: targets', () => {
  it('reads the end of tokens and client certificates', () => {
    const authority = createAuthority('test');
    const { certificate } = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'admin',
      usage: 'client',
      validity: { from: UNTIL - 1_000, until: UNTIL },
    });
    const text = kubeconfig({
      token: token({ exp: UNTIL / 1_000 }),
      'client-certificate-data': Buffer.from(certificate).toString('base64'),
    });
    expect(credentialsIn(text)).to.deep.equal([
      { what: 'token', user: 'admin', until: UNTIL },
      { what: 'client certificate', user: 'admin', until: UNTIL },
    ]);
  });

  const unreadable: Readonly<Record<string, string>> = {
    'a token of another form': kubeconfig({ token: 'abc' }),
    'a token without end': kubeconfig({ token: token({}) }),
    'a certificate that cannot be read': kubeconfig({ 'client-certificate-data': 'YWJj' }),
    'no users': '{}',
    'no kubeconfig': ']',
  };
  for (const [title, text] of Object.entries(unreadable))
    it(`knows no end of ${title}`, () => {
      expect(credentialsIn(text)).to.deep.equal([]);
    });

  const tried = (more: Partial<TriedTarget>): readonly TriedTarget[] => [
    { name: 't', namespace: 'shop', credentials: [], problem: undefined, ...more },
  ];
  const credentials = [{ what: 'token', user: 'admin', until: UNTIL }];

  it('reports an expired credential, and not that the cluster refuses it', () => {
    const found = targetFindings(tried({ credentials, problem: 'Unauthorized' }), UNTIL);
    expect(found.map(({ check, object, evidence }) => [check, object, evidence])).to.deep.equal([
      [
        'expired-credential',
        'Target shop/t',
        'the token of user "admin" expired at 2026-01-01T00:00:00.000Z',
      ],
    ]);
  });

  it('reports a cluster that cannot be used', () => {
    const found = targetFindings(tried({ credentials, problem: 'no route' }), UNTIL - 1);
    expect(found.map(({ check, evidence }) => [check, evidence])).to.deep.equal([
      ['unreachable-target', 'no route'],
    ]);
  });

  it('reports nothing about a target that can be used', () => {
    expect(targetFindings(tried({ credentials }), UNTIL - 1)).to.deep.equal([]);
  });
});
