/** The chart with certificates of other sources: the webhook configuration that it renders, and rights that it omits. */
import { expect } from 'chai';
import { validatedResources } from '../../../../src/api/validation/index.ts';
import { wordsFor } from '../../../../src/cli/commands/install/names.ts';
import { ownField, type Fields } from '../../../../src/lib/objects.ts';
import { hostsOf } from '../../../../src/runtime/webhooks/endpoint.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { webhookConfiguration, type Skipping } from '../../../../src/webhooks/configuration.ts';
import { renderProduct } from '../../../support/product-chart.ts';

const CA = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const given = { source: 'secret', secret: 'hooks-tls', caBundle: CA };
const service = { namespace: 'ls-system', name: 'espalier-webhooks', port: 9443 };

const objectsOf = (certificates: Fields, more: Fields = {}): readonly Obj[] =>
  renderProduct({
    rbac: { allNamespaces: true },
    webhooks: { enabled: true, certificates, ...more },
  }).manifests.map(({ document }) => document as Obj);
const find = (objects: readonly Obj[], words: string): Obj | undefined =>
  objects.find((object) => wordsFor(object) === words);
const at = (object: unknown, ...path: readonly string[]): unknown => path.reduce(ownField, object);

/** `verb resource` for all roles that are bound to the account of the webhooks. */
function rightsOfWebhooks(objects: readonly Obj[]): readonly string[] {
  const bindings = objects.filter(
    (object) =>
      object.kind.endsWith('RoleBinding') &&
      JSON.stringify(at(object, 'subjects')).includes('"espalier-webhooks"'),
  );
  return bindings.flatMap(({ kind, metadata, ...binding }) => {
    const ref = at(binding, 'roleRef') as { kind: string; name: string };
    const role = objects.find(
      (object) =>
        object.kind === ref.kind &&
        object.metadata.name === ref.name &&
        object.metadata.namespace === metadata.namespace,
    );
    if (!role) throw new Error(`${kind} ${metadata.name}: there is no ${ref.kind} ${ref.name}`);
    const rules = at(role, 'rules') as readonly { verbs: string[]; resources: string[] }[];
    return rules.flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources.map((r) => `${verb} ${r}`)),
    );
  });
}

describe('the certificates of the webhooks in the chart', () => {
  for (const [name, certificates] of [
    ['cert-manager', { source: 'cert-manager' }],
    ['cert-manager with an issuer', { source: 'cert-manager', issuer: { name: 'company' } }],
    ['a secret', given],
  ] as const)
    it(`from ${name} need no right on secrets and webhook configurations`, () => {
      expect(rightsOfWebhooks(objectsOf(certificates))).to.deep.equal(['create subjectaccessreviews']);
      expect(rightsOfWebhooks(objectsOf(certificates, { skipValidation: 'all' }))).to.deep.equal([]);
    });

  it('of the pods themselves need these rights', () => {
    expect(rightsOfWebhooks(objectsOf({}))).to.include.members([
      'create secrets',
      'patch validatingwebhookconfigurations',
      'create subjectaccessreviews',
    ]);
    expect(find(objectsOf({}), 'ValidatingWebhookConfiguration espalier-webhooks')).to.equal(undefined);
  });

  for (const skipping of ['admins', 'all'] as const satisfies readonly Skipping[])
    it(`from elsewhere belong to the configuration that the pods would write: ${skipping}`, () => {
      const wanted = webhookConfiguration({ service }, validatedResources, CA, { skipping });
      const withSecret = find(
        objectsOf(given, { skipValidation: skipping }),
        'ValidatingWebhookConfiguration espalier-webhooks',
      );
      expect(at(withSecret, 'webhooks')).to.deep.equal(wanted.webhooks);
      expect(withSecret?.metadata.annotations).to.equal(undefined);

      const managed = find(
        objectsOf({ source: 'cert-manager' }, { skipValidation: skipping }),
        'ValidatingWebhookConfiguration espalier-webhooks',
      );
      // cert-manager adds the authority.
      const withoutCa = wanted.webhooks?.map((hook) => ({
        ...hook,
        clientConfig: clientConfigWithoutCa(hook),
      }));
      expect(at(managed, 'webhooks')).to.deep.equal(withoutCa);
      expect(managed?.metadata.annotations).to.deep.equal({
        'cert-manager.io/inject-ca-from': 'ls-system/espalier-webhooks',
      });
    });

  it('from cert-manager contain the names of the Service, and get into the pods', () => {
    const objects = objectsOf({ source: 'cert-manager' });
    const certificate = find(objects, 'Certificate ls-system/espalier-webhooks');
    expect(at(certificate, 'spec', 'dnsNames')).to.have.members(hostsOf({ service }));
    const pod = at(find(objects, 'Deployment ls-system/espalier-webhooks'), 'spec', 'template', 'spec');
    expect(at(pod, 'volumes')).to.deep.include({
      name: 'webhooks-tls',
      secret: { secretName: at(certificate, 'spec', 'secretName') },
    });
    const [container] = at(pod, 'containers') as readonly { args: string[]; volumeMounts: object[] }[];
    expect(container?.args).to.include('--cert-dir=/etc/espalier-webhooks-tls');
    expect(container?.args.join(' ')).not.to.contain('--owner-role');
    expect(container?.volumeMounts).to.deep.include({
      name: 'webhooks-tls',
      mountPath: '/etc/espalier-webhooks-tls',
      readOnly: true,
    });
  });

  it('from cert-manager are signed by an authority that outlives them, or by an issuer of your own', () => {
    const objects = objectsOf({ source: 'cert-manager' });
    const issuerOf = (name: string, of = objects) =>
      at(find(of, `Certificate ls-system/${name}`), 'spec', 'issuerRef');
    const issuer = (name: string) => ({ group: 'cert-manager.io', kind: 'Issuer', name });
    expect(issuerOf('espalier-webhooks')).to.deep.equal(issuer('espalier-webhooks'));
    expect(at(find(objects, 'Issuer ls-system/espalier-webhooks'), 'spec', 'ca', 'secretName')).to.equal(
      at(find(objects, 'Certificate ls-system/espalier-webhooks-ca'), 'spec', 'secretName'),
    );
    expect(issuerOf('espalier-webhooks-ca')).to.deep.equal(issuer('espalier-webhooks-ca'));
    expect(at(find(objects, 'Issuer ls-system/espalier-webhooks-ca'), 'spec')).to.deep.equal({
      selfSigned: {},
    });

    const own = { name: 'company', kind: 'ClusterIssuer', group: 'cert-manager.io' };
    const referring = objectsOf({ source: 'cert-manager', issuer: own });
    expect(issuerOf('espalier-webhooks', referring)).to.deep.equal(own);
    expect(referring.filter(({ kind }) => kind === 'Issuer')).to.deep.equal([]);
  });

  it('from a secret need its name and its authority', () => {
    for (const incomplete of [{ caBundle: CA }, { secret: 'a' }, {}])
      expect(() => objectsOf({ source: 'secret', ...incomplete })).to.throw(
        'webhooks.certificates.source=secret needs webhooks.certificates.secret',
      );
  });

  it('are not created without webhooks', () => {
    const { manifests } = renderProduct({
      rbac: { allNamespaces: true },
      webhooks: { certificates: { source: 'cert-manager' } },
    });
    expect(manifests.filter(({ source }) => source.includes('/webhooks/'))).to.deep.equal([]);
  });
});

function clientConfigWithoutCa(hook: object): object {
  const { caBundle: _ca, ...rest } = ownField(hook, 'clientConfig') as { caBundle: string };
  return rest;
}
