/** Computes the response to a ConversionReview of an API server. Pure. */
import { messageOf } from '../../lib/message-of.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import type { Obj } from '../types.ts';
import type { Conversion } from './conversion.ts';

/** The request body is not a ConversionReview. */
class InvalidReview extends Error {
  override readonly name = 'InvalidReview';
}

/** An HTTP response. */
interface ReviewAnswer {
  readonly code: number;
  readonly body: object;
  /** Why the conversion failed. */
  readonly problem?: string | undefined;
}

/**
 * Answers a request: parses its body, and converts all its objects, or none.
 * @throws errors that are bugs
 */
export function answerReview(conversion: Pick<Conversion, 'convert'>, text: string): ReviewAnswer {
  try {
    const { response, problem } = reviewConversion(conversion, JSON.parse(text) as unknown);
    return { code: 200, body: response, problem };
  } catch (error) {
    if (!(error instanceof InvalidReview || error instanceof SyntaxError)) throw error;
    return { code: 400, body: { message: error.message } };
  }
}

interface Review {
  readonly response: object;
  /** Why the conversion failed. */
  readonly problem: string | undefined;
}

/**
 * Converts all objects of a review, or none.
 * @throws InvalidReview
 */
function reviewConversion(conversion: Pick<Conversion, 'convert'>, body: unknown): Review {
  const request = ownField(body, 'request');
  const uid = ownField(request, 'uid');
  const apiVersion = ownField(request, 'desiredAPIVersion');
  const objects = ownField(request, 'objects');
  if (typeof uid !== 'string' || typeof apiVersion !== 'string' || !Array.isArray(objects))
    throw new InvalidReview('expected a ConversionReview with uid, desiredAPIVersion and objects');
  const answer = (response: object, problem?: string): Review => ({
    response: {
      apiVersion: ownField(body, 'apiVersion'),
      kind: 'ConversionReview',
      response: { uid, ...response },
    },
    problem,
  });
  const convertedObjects: Obj[] = [];
  for (const object of objects as unknown[]) {
    const problem = convertInto(convertedObjects, conversion, object, apiVersion);
    if (problem !== undefined) return answer({ result: { status: 'Failure', message: problem } }, problem);
  }
  return answer({ result: { status: 'Success' }, convertedObjects });
}

/** @returns why the object cannot be converted */
function convertInto(
  converted: Obj[],
  conversion: Pick<Conversion, 'convert'>,
  object: unknown,
  apiVersion: string,
): string | undefined {
  const metadata = ownField(object, 'metadata');
  if (!isObject(object) || !isObject(metadata)) return 'an object has no metadata';
  try {
    converted.push(conversion.convert(object as unknown as Obj, apiVersion));
    return undefined;
  } catch (error) {
    const { namespace, name } = metadata as { namespace?: string; name?: string };
    const key = namespace === undefined ? name : `${namespace}/${name ?? ''}`;
    const why = messageOf(error);
    return `cannot convert ${String(object['kind'])} ${String(key)} from ${String(object['apiVersion'])} to ${apiVersion}: ${why}`;
  }
}
