/** Metadata with types that no server accepts. */
import { expect } from 'chai';
import { metadataProblem } from '../../../../deployers/objects/manifests/metadata.ts';

describe('the metadata of an object', () => {
  const rows: readonly (readonly [title: string, metadata: unknown, problem: string | undefined])[] = [
    ['is missing', undefined, undefined],
    ['is null', null, undefined],
    ['has strings', { name: 'a', labels: { b: 'c' }, annotations: null, finalizers: ['x'] }, undefined],
    ['has a label that is null', { labels: { a: null } }, undefined],
    ['has no map', [1], 'Thing: metadata must be a map, but is a list'],
    [
      'has a label that is a number',
      { name: 'a', labels: { v: 1.1 } },
      'Thing "a": metadata.labels.v must be a string, but is a number; put it in quotes',
    ],
    [
      'has an annotation that is a boolean',
      { name: 'a', annotations: { 'b/c': true } },
      'Thing "a": metadata.annotations.b/c must be a string, but is a boolean; put it in quotes',
    ],
    [
      'has an annotation that is a map',
      { name: 'a', annotations: { b: {} } },
      'Thing "a": metadata.annotations.b must be a string, but is a map',
    ],
    [
      'has a large number as its name',
      { name: 2n ** 60n },
      'Thing: metadata.name must be a string, but is a number; put it in quotes',
    ],
    [
      'has a number as its namespace',
      { name: 'a', namespace: 1 },
      'Thing "a": metadata.namespace must be a string, but is a number; put it in quotes',
    ],
    ['has labels that are a list', { labels: ['a'] }, 'Thing: metadata.labels must be a map, but is a list'],
    [
      'has a finalizer that is a number',
      { finalizers: ['a', 1] },
      'Thing: metadata.finalizers[1] must be a string, but is a number; put it in quotes',
    ],
  ];
  for (const [title, metadata, problem] of rows)
    it(`${title}: ${problem === undefined ? 'accepted' : 'refused'}`, () => {
      expect(metadataProblem({ kind: 'Thing', metadata })).to.equal(problem);
    });

  const long = 'a'.repeat(64);
  const syntax: readonly (readonly [kind: string, metadata: object, problem: RegExp | undefined])[] = [
    [
      'v1 ConfigMap',
      { name: 'My_Config' },
      /^ConfigMap "My_Config": metadata.name is invalid: a lowercase RFC 1123 subdomain/,
    ],
    ['v1 ConfigMap', { name: 'a.b' }, undefined],
    ['v1 Service', { name: 'a.b' }, /metadata.name is invalid: must not contain dots/],
    ['v1 Namespace', { name: long }, /metadata.name is invalid: must be no more than 63 characters/],
    ['apps/v1 Deployment', { name: 'A' }, /metadata.name is invalid/],
    ['policy.networking.k8s.io/v1 Other', { name: 'a:b' }, /metadata.name is invalid/],
    ['rbac.authorization.k8s.io/v1 Role', { name: 'system:A' }, undefined],
    ['rbac.authorization.k8s.io/v1 Role', { name: 'a/b' }, /metadata.name is invalid: may not contain '\/'/],
    ['apiregistration.k8s.io/v1 APIService', { name: 'v1.' }, undefined],
    ['networking.k8s.io/v1 IPAddress', { name: '2001:db8::1' }, undefined],
    ['example.com/v1 Thing', { name: 'Any_thing' }, undefined],
    ['example.com/v1 Thing', { name: '..' }, /metadata.name is invalid: may not be '..'/],
    ['v1 ConfigMap', { generateName: 'a-' }, undefined],
    ['v1 ConfigMap', { namespace: 'a.b' }, /metadata.namespace is invalid: must not contain dots/],
    [
      'v1 ConfigMap',
      { labels: { chart: '1.0.0+x' } },
      /metadata.labels.chart is invalid: "1.0.0\+x": a valid label/,
    ],
    ['v1 ConfigMap', { labels: { l: long } }, /metadata.labels.l is invalid: "a+": must be no more than 63/],
    ['v1 ConfigMap', { labels: { '': 'x' } }, /the key of metadata.labels is invalid: "": name part/],
    ['v1 ConfigMap', { labels: { 'a/b/c': null } }, /the key of metadata.labels is invalid: "a\/b\/c"/],
    ['v1 ConfigMap', { annotations: { 'Example.com/a': 'any + thing' } }, undefined],
    ['v1 ConfigMap', { annotations: { 'a b': '' } }, /the key of metadata.annotations is invalid: "a b"/],
  ];
  for (const [type, metadata, problem] of syntax)
    it(`${type} ${JSON.stringify(metadata).slice(0, 40)}: ${problem === undefined ? 'accepted' : 'refused'}`, () => {
      const [apiVersion = '', kind = ''] = type.split(' ');
      const found = metadataProblem({ apiVersion, kind, metadata });
      if (problem === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(problem);
    });

  it('shows only the beginning of a long value', () => {
    const found = metadataProblem({ kind: 'Thing', metadata: { labels: { l: 'a'.repeat(500) } } });
    expect(found).to.contain(`"${'a'.repeat(80)}…"`);
  });
});
