/** Failures on the way from a configuration to manifests, nested as upstream nests them, so that people find them. */
import { maskOf, type Mask } from '../../src/lib/masking.ts';
import { asText } from '../../src/machine/decision.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import type { HelmConfig } from './config.ts';

type Step = 'GetHelmChart' | 'PrepareHelmValues' | 'RenderHelmValues';

const text = (reason: Step, message: string): string =>
  asText({ operation: 'TemplateChart', reason, message });

/** The configuration, the chart or its values have to be changed. */
export const broken = (reason: Step, message: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError({
    operation: 'Reconcile',
    reason: 'Template',
    message: text(reason, message),
    cause,
  });

/** Another attempt may help. @param info keeps the log quiet */
export const passing = (reason: Step, message: string, cause?: unknown, info = false): RetryError =>
  new RetryError({ operation: 'Reconcile', reason: 'Template', message: text(reason, message), cause, info });

/** Takes out of a message what a user gave as values: it may be secret. Name and namespace everybody knows. */
export function maskFor({
  name,
  namespace,
  values,
}: Pick<HelmConfig, 'name' | 'namespace' | 'values'>): Mask {
  const isKnown = (value: unknown): boolean => value === name || value === namespace;
  const text = JSON.stringify(values, (_, value: unknown) => (isKnown(value) ? undefined : value));
  return maskOf([JSON.parse(text)]);
}
