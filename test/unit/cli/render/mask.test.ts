import { expect } from 'chai';
import { maskOver } from '../../../../src/cli/commands/blueprints/rendering/mask.ts';

const kubeconfig = `apiVersion: v1
kind: Config
current-context: default
users:
  - name: default
    user:
      token: s3cr3t-t0ken
      password: pass1!
`;

describe('the mask over secrets', () => {
  const mask = maskOver([
    { password: 'hunter22', pin: 1234, nested: ['deep-secret'], short: 'tree' },
    { kubeconfig },
    { key: '-----BEGIN KEY-----\nwith small words in it\n' },
  ]);

  const hidden: readonly (readonly [what: string, plain: unknown, shown: unknown])[] = [
    ['a secret', 'hunter22', '***'],
    ['a secret within a string', 'postgres://admin:hunter22@db', 'postgres://admin:***@db'],
    ['a secret in base64', Buffer.from('hunter22').toString('base64'), '***'],
    ['a number', 1234, '***'],
    ['a secret in a list in a map', { a: ['deep-secret'] }, { a: ['***'] }],
    ['a kubeconfig', kubeconfig, '***'],
    ['a field of a kubeconfig', 'Bearer s3cr3t-t0ken', 'Bearer ***'],
    ['a short field of a kubeconfig', 'me:pass1!', 'me:***'],
    ['a line of a string', '  with small words in it', '  ***'],
    ['a short secret that is a whole word', 'a tree in the street', 'a *** in the street'],
  ];
  for (const [what, plain, shown] of hidden)
    it(`hides ${what}`, () => {
      expect(mask.value(plain)).to.deep.equal(shown);
    });

  it('does not mask public values', () => {
    const open = { namespace: 'default', apiVersion: 'v1', size: 12345, name: 'web' };
    expect(mask.value(open)).to.deep.equal(open);
  });
});
