/** The capabilities that templates see when the CRDs of their chart are installed. */
import { expect } from 'chai';
import { versionFields, withDefinitions } from '../../../../src/templating/helm/capabilities.ts';

const crd = (versions: readonly object[], kind = 'Route') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  spec: { group: 'x.example', names: { kind }, versions },
});
const served = { name: 'v1', served: true };
const facts = (...apiVersions: string[]) => ({ kubeVersion: 'v1.34.0', apiVersions });

describe('the capabilities with the definitions of a chart', () => {
  const rows: readonly (readonly [
    title: string,
    definitions: readonly unknown[],
    added: readonly string[],
  ])[] = [
    ['have its versions and kinds', [crd([served])], ['x.example/v1', 'x.example/v1/Route']],
    ['lack versions that are not served', [crd([{ name: 'v2', served: false }, { name: 'v3' }])], []],
    [
      'have the kind of a subresource',
      [crd([{ ...served, subresources: { scale: {}, status: {} } }])],
      ['x.example/v1', 'x.example/v1/Route', 'x.example/v1/Scale'],
    ],
    ['ignore other documents', [{ ...crd([served]), kind: 'Other' }, null, 'text', {}, undefined], []],
  ];
  for (const [title, definitions, added] of rows)
    it(title, () => {
      for (const how of ['created', 'applied'] as const)
        expect(withDefinitions(facts('v1'), definitions, how)).to.deep.equal(facts('v1', ...added));
    });

  it('have new versions of a kind that exists only if its definition is changed', () => {
    const old = facts('x.example/v1alpha1', 'x.example/v1alpha1/Route');
    expect(withDefinitions(old, [crd([served])], 'created')).to.deep.equal(old);
    expect(withDefinitions(old, [crd([served])], 'applied').apiVersions).to.include('x.example/v1/Route');
    expect(withDefinitions(old, [crd([served], 'Other')], 'created').apiVersions).to.include(
      'x.example/v1/Other',
    );
  });

  it('have the numbers of the version, unless the server writes them', () => {
    expect(versionFields(facts())).to.deep.equal({ Version: 'v1.34.0', Major: '1', Minor: '34' });
    expect(versionFields({ ...facts(), major: '1', minor: '34+' })).to.include({ Minor: '34+' });
  });
});
