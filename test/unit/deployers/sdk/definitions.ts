/** CustomResourceDefinitions for tests. */
import type { KubeObject } from '../../../../deployers/objects/manifests/model.ts';

export const CRD = 'CustomResourceDefinition';

/** A definition in the group g.test. */
export const crd = (kind: string): KubeObject => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: CRD,
    metadata: { name: `${plural}.g.test` },
    spec: { group: 'g.test', scope: 'Namespaced', versions: [{ name: 'v1' }], names: { kind, plural } },
  };
};
