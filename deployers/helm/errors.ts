/**
 * Errors between configuration and manifests, with the same nested operations as upstream, so that users find them.
 */
import { maskOf, type Mask } from '../../src/lib/masking.ts';
import { asText } from '../../src/machine/decision.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import type { HelmConfig } from './config.ts';

/** Operation of errors of releases. */
export const OPERATION = 'RealHelmDeployer.Deploy';

type Step = 'GetHelmChart' | 'PrepareHelmValues' | 'RenderHelmValues';

const text = (reason: Step, message: string): string =>
  asText({ operation: 'TemplateChart', reason, message });

/** An error that the user has to fix in the configuration, the chart or the values. */
export const configurationError = (reason: Step, message: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError({
    operation: 'Reconcile',
    reason: 'Template',
    message: text(reason, message),
    cause,
  });

/** A temporary error. @param info logs it as information */
export const retryError = (reason: Step, message: string, cause?: unknown, info = false): RetryError =>
  new RetryError({ operation: 'Reconcile', reason: 'Template', message: text(reason, message), cause, info });

/**
 * Replaces the user's values in messages, because they may be secret. Name and namespace of the release are not
 * secret.
 */
export function maskFor({
  name,
  namespace,
  values,
}: Pick<HelmConfig, 'name' | 'namespace' | 'values'>): Mask {
  const isKnown = (value: unknown): boolean => value === name || value === namespace;
  const text = JSON.stringify(values, (_, value: unknown) => (isKnown(value) ? undefined : value));
  return maskOf([JSON.parse(text)]);
}
