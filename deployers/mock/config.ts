/** The provider configuration of the mock deployer: the result that it simulates. */
import { GROUP } from '../../src/api/labels.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { codec, optionalObject, optionalString } from '../sdk/codec.ts';
import { continuousShape, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { anything } from '../sdk/shape.ts';

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
const shape = {
  phase: anything,
  initialPhase: anything,
  providerStatus: anything,
  export: anything,
  continuousReconcile: continuousShape,
} as const;

export const mockConfig = codec<MockConfig>(
  'ProviderConfiguration',
  { [API_VERSION]: decode },
  { [API_VERSION]: shape },
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
