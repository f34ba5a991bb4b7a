/** Decides whether the component of an installation must be signed, and verifies its signature. */
import { isRoot } from '../../../src/api/job.ts';
import type { Context, VerificationSignature } from '../../../src/api/kinds/context.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { SecretReference } from '../../../src/api/shared.ts';
import { nameOf, type Component } from '../../../src/components/descriptor.ts';
import type { DescriptorRunner } from '../../../src/components/descriptor-work.ts';
import { signatureNames, type Trust } from '../../../src/components/signature.ts';
import type { ComponentView } from '../../../src/components/view.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, View } from '../../../src/runtime/types.ts';
import { problem, withPhaseErrorsAsync } from './component-errors.ts';
import { isFinal } from '../../../src/runtime/errors.ts';

/** Verify always, only if the installation requires it, or never. */
export const verificationPolicies = ['Enforce', 'DoNotEnforce', 'Disabled'] as const;
export type VerificationPolicy = (typeof verificationPolicies)[number];

interface VerificationPorts {
  readonly client: Pick<Client, 'get'>;
  readonly policy: VerificationPolicy | undefined;
  readonly descriptors: DescriptorRunner;
}

/**
 * @returns the name of the verified signature; undefined if no verification is required
 * @throws PhaseError with reason ExtractVerifyInfo or VerifySignature
 */
export async function verifyComponent(
  self: View<Installation>,
  context: View<Context>,
  component: Component,
  { client, descriptors, policy = 'DoNotEnforce' }: VerificationPorts,
): Promise<string | undefined> {
  const wanted = self.spec.verification?.signatureName;
  if (policy === 'Disabled' || (policy === 'DoNotEnforce' && !self.spec.verification)) return undefined;
  if (wanted === undefined || wanted === '') {
    throw problem(
      'ExtractVerifyInfo',
      'this installation requires signed components: spec.verification.signatureName must name the signature to check',
    );
  }
  // The parent required the verification. A component without its own signature is covered by the parent
  // component's signature.
  const isInherited = policy === 'DoNotEnforce' && !isRoot(self.metadata);
  if (isInherited && !signatureNames(component).includes(wanted)) return undefined;
  const trust = await trustFor(wanted, context, client);
  await withPhaseErrorsAsync('VerifySignature', () =>
    descriptors.verifySignature({ component, name: wanted, trust }),
  );
  return wanted;
}

/**
 * A signature covers referenced components by the digests of the references. An attacker with write access to the
 * repository must not bypass this by removing digests from a descriptor.
 * @throws PhaseError with reason VerifySignature
 */
export function verifyReferences(signatureName: string, { own, unverified }: ComponentView): void {
  if (unverified.length === 0) return;
  throw problem(
    'VerifySignature',
    `signature ${signatureName} of component ${nameOf(own)} does not cover all components: the digests of ${unverified.join(', ')} cannot be compared; references and components must contain all digests`,
  );
}

async function trustFor(
  signatureName: string,
  { metadata, verificationSignatures = {} }: View<Context>,
  client: Pick<Client, 'get'>,
): Promise<Trust> {
  const fail = (why: string): never => {
    throw problem('ExtractVerifyInfo', `context '${metadata.name}' ${why}`);
  };
  const entry: View<VerificationSignature> | undefined = Object.hasOwn(verificationSignatures, signatureName)
    ? verificationSignatures[signatureName]
    : undefined;
  if (!entry) return fail(`has no entry '${signatureName}' in verificationSignatures`);
  const read = async (reference: View<SecretReference>): Promise<string> => {
    const { name, key } = reference;
    const namespace = metadata.namespace ?? '';
    const named = reference.namespace ?? '';
    if (named !== '' && named !== namespace) {
      return fail(
        `references secret ${named}/${name} of another namespace; copy the secret to namespace ${namespace} and remove the namespace from the reference`,
      );
    }
    const secret = await getIfThere(client, secretKind, `${namespace}/${name}`).catch((error: unknown) =>
      isFinal(error)
        ? fail(`references a secret: ${(error as Error).message}`)
        : Promise.reject(error as Error),
    );
    if (!secret) return fail(`references secret ${namespace}/${name}, which cannot be found`);
    const { data = {} } = secret;
    const [only, ...others] = Object.keys(data);
    const chosen = key ?? (others.length === 0 ? only : undefined);
    const value = chosen !== undefined && Object.hasOwn(data, chosen) ? data[chosen] : undefined;
    if (value === undefined || value === '') {
      const what = chosen === undefined ? 'nothing' : `no value under key '${chosen}'`;
      const held = others.length > 0 && key === undefined ? 'several entries; name one in key' : what;
      return fail(`references secret ${namespace}/${name}, which contains ${held}`);
    }
    return Buffer.from(value, 'base64').toString('utf8');
  };
  const { publicKeySecretReference, caCertificateSecretReference } = entry;
  if (publicKeySecretReference) return { publicKey: await read(publicKeySecretReference) };
  if (caCertificateSecretReference) return { caCertificates: await read(caCertificateSecretReference) };
  return fail(`names neither a public key nor authorities for signature '${signatureName}'`);
}
