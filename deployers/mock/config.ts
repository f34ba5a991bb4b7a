/** The provider configuration of the mock deployer: what it is to pretend. */
import { GROUP } from '../../src/api/labels.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { codec, optionalObject, optionalString } from '../sdk/codec.ts';
import { continuousShape, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { anything } from '../sdk/shape.ts';

export interface MockConfig {
  /** Phase to end in, or to stay in when it is no final one; wins over everything. */
  readonly phase?: string;
  /** Phase to stay in, as long as the job has just begun. */
  readonly initialPhase?: string;
  readonly providerStatus?: Fields;
  /** Values to export. */
  readonly export?: Fields;
  readonly continuousReconcile?: ContinuousReconcile;
}

const API_VERSION = `mock.deployer.${GROUP}/v1alpha1`;
const shape = {
  ...{ phase: anything, initialPhase: anything, providerStatus: anything, export: anything },
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
