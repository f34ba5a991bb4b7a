/** Decodes the update strategy of a configuration. */
import { CodecError, optionalString } from '../../sdk/codec.ts';
import { strategies, type Strategy } from './model.ts';

/** @throws CodecError */
export function decodeStrategy(value: unknown): Strategy {
  const text = optionalString(value, 'updateStrategy');
  if (!text) return 'update';
  const strategy = strategies.find((s) => s === text);
  if (strategy) return strategy;
  throw new CodecError({
    step: 'validate',
    message: `updateStrategy: ${text} is not a valid update strategy, use one of ${strategies.join(', ')}`,
  });
}
