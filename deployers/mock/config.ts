/** The provider configuration of the mock deployer: the result that it simulates. */
import { z } from 'zod';
import { GROUP } from '../../src/api/labels.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { codec, optionalObject, optionalString } from '../sdk/codec.ts';
import { continuousSchema, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { configurationHead, describedBy } from '../sdk/schema.ts';

export interface MockConfig {
  /** The phase to end in, or to stay in if it is not final; overrides all other settings. */
  readonly phase?: string;
  /** The phase to stay in when the job has just started. */
  readonly initialPhase?: string;
  readonly providerStatus?: Fields;
  /** Values to export. */
  readonly export?: Fields;
  readonly continuousReconcile?: ContinuousReconcile;
}

const API_VERSION = `mock.deployer.${GROUP}/v1alpha1`;
const object = z.record(z.string(), z.unknown());
export const mockSchema = z.object({
  ...configurationHead(API_VERSION),
  phase: z.string().nullish().describe('Phase that the job ends in, or stays in if it is not final.'),
  initialPhase: z.string().nullish().describe('Phase that a job which has just started stays in.'),
  providerStatus: object.nullish().describe('Value of status.providerStatus.'),
  export: object.nullish().describe('Values that the item exports.'),
  continuousReconcile: continuousSchema,
});

export const mockConfig = describedBy<MockConfig>(
  { [API_VERSION]: mockSchema },
  codec('ProviderConfiguration', { [API_VERSION]: decode }),
);

function decode(fields: Fields): MockConfig {
  const phase = optionalString(fields['phase'], 'phase');
  const initialPhase = optionalString(fields['initialPhase'], 'initialPhase');
  const providerStatus = optionalObject(fields['providerStatus'], 'providerStatus');
  const continuousReconcile = decodeContinuous(fields['continuousReconcile']);
  const exported = optionalObject(fields['export'], 'export');
  return {
    ...(phase && { phase }),
    ...(initialPhase && { initialPhase }),
    ...(providerStatus && { providerStatus }),
    ...(exported && { export: exported }),
    ...(continuousReconcile && { continuousReconcile }),
  };
}
