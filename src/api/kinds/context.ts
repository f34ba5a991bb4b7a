/** Context: the repositories and credentials with which installations find components. */
import { z } from 'zod';
import { contextKind } from '../landscaper-kinds.ts';
import {
  ageColumn,
  anyJson,
  anyObject,
  localObjectReference,
  objectName,
  objectOf,
  open,
  secretReference,
  type Definition,
} from '../shared.ts';

const verificationSignature = open({
  publicKeySecretReference: secretReference.optional().describe('Secret with the public key.'),
  caCertificateSecretReference: secretReference
    .optional()
    .describe('Secret with the certificate of the authority.'),
});
export type VerificationSignature = z.infer<typeof verificationSignature>;

const context = objectOf('Context', {
  repositoryContext: anyObject()
    .optional()
    .describe('Repository of components for installations that do not specify one.'),
  ocmConfig: localObjectReference
    .optional()
    .describe('Config map with an OCM configuration under the key ".ocmconfig".'),
  registryPullSecrets: z
    .array(localObjectReference)
    .optional()
    .describe('Secrets with credentials for registries, in the same namespace.'),
  configurations: z
    .record(z.string(), anyJson())
    .optional()
    .describe('Settings of deployers, by name; the names are defined by each deployer.'),
  componentVersionOverwrites: objectName()
    .optional()
    .describe('Name of the ComponentVersionOverwrites object to apply.'),
  verificationSignatures: z
    .record(z.string(), verificationSignature)
    .optional()
    .describe('Keys and certificates for checking signatures, by the name of the signature.'),
});
/** Repositories and credentials that installations share, and settings of deployers. */
export type Context = z.infer<typeof context>;

export { contextKind };

export const contextDefinition: Definition = {
  kind: contextKind,
  singular: 'context',
  shortNames: ['ctx'],
  columns: [ageColumn],
  statusSubresource: false,
  description: 'Repositories and credentials that installations share.',
  schema: context,
};
