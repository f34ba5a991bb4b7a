import { expect } from 'chai';
import { maskOf } from '../../../../src/cli/render/mask.ts';

const kubeconfig = `apiVersion: v1
kind: Config
current-context: default
users:
  - name: default
    user:
      token: s3cr3t-t0ken
`;

describe('the mask over secrets', () => {
  const mask = maskOf({
    values: [{ password: 'hunter22', pin: 1234, nested: ['deep-secret'] }],
    targets: [{ kubeconfig }],
  });

  const hidden: readonly (readonly [what: string, plain: unknown, shown: unknown])[] = [
    ['a secret', 'hunter22', '***'],
    ['a secret within a text', 'postgres://admin:hunter22@db', 'postgres://admin:***@db'],
    ['a secret in base64', Buffer.from('hunter22').toString('base64'), '***'],
    ['a number', 1234, '***'],
    ['a secret in a list in a map', { a: ['deep-secret'] }, { a: ['***'] }],
    ['a kubeconfig', kubeconfig, '***'],
    ['a field of a kubeconfig', 'Bearer s3cr3t-t0ken', 'Bearer ***'],
  ];
  for (const [what, plain, shown] of hidden)
    it(`hides ${what}`, () => {
      expect(mask.value(plain)).to.deep.equal(shown);
    });

  it('leaves alone what everybody may know', () => {
    const open = { namespace: 'default', apiVersion: 'v1', size: 12345, name: 'web' };
    expect(mask.value(open)).to.deep.equal(open);
  });
});
