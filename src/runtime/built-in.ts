const BUILT_IN = new Set(['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy']);
const BUILT_IN_K8S =
  /^(admissionregistration|apiextensions|apiregistration|authentication|authorization|certificates|coordination|discovery|events|flowcontrol\.apiserver|internal\.apiserver|networking|node|rbac\.authorization|resource|scheduling|storage|storagemigration)\.k8s\.io$/;

/** Whether a group belongs to Kubernetes itself, so its kinds are not custom resources. */
export const isBuiltIn = (group: string): boolean => BUILT_IN.has(group) || BUILT_IN_K8S.test(group);
