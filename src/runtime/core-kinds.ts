/** Kinds of Kubernetes itself that several parts of the program read and write. */
import type { Kind, Obj } from './types.ts';

export interface Secret extends Obj {
  type?: string;
  /** In base64. */
  data?: Record<string, string>;
}

export interface ConfigMap extends Obj {
  data?: Record<string, string>;
  /** In base64. */
  binaryData?: Record<string, string>;
}

export interface CustomResourceDefinition extends Obj {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

export const secretKind: Kind<Secret> = core('Secret', 'secrets');
export const configMapKind: Kind<ConfigMap> = core('ConfigMap', 'configmaps');
export const namespaceKind: Kind = { ...core('Namespace', 'namespaces'), namespaced: false };
export const crdKind: Kind<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

function core(kind: string, plural: string): Kind<never> {
  return { group: '', version: 'v1', kind, plural, namespaced: true };
}
