/**
 * Conversions of the operator in a simulated cluster. The API server sends the same requests as by HTTPS, and the same code
 * answers them; only the connection and its certificates are missing.
 */
import type { PostReview } from '../../apiserver/http/webhook-post.ts';
import { conversionPath } from '../../lib/crd/conversion-path.ts';
import { ownField } from '../../lib/objects.ts';
import { definitionOf, installConversion } from '../../runtime/conversion/definition.ts';
import { answerReview } from '../../runtime/conversion/review.ts';
import type { ServedConversion } from '../../runtime/conversion/served.ts';
import { DefinitionError } from '../../runtime/errors.ts';
import type { Client } from '../../runtime/types.ts';

const ENDPOINT = { service: { namespace: 'default', name: 'operator', port: 443 } };

/** Answers in this process; conversions are found by their paths. */
export function localConversions(conversions: readonly ServedConversion[]): PostReview {
  const byPath = new Map<unknown, ServedConversion>(
    conversions.map((each) => [conversionPath(each.conversion.hub), each]),
  );
  return (config, review) => {
    const path = ownField(ownField(config, 'service'), 'path');
    const conversion = byPath.get(path);
    if (!conversion)
      return Promise.reject(new Error(`there is no conversion at ${String(path)}; add it to "conversions"`));
    const { code, body } = answerReview(conversion, JSON.stringify(review));
    return Promise.resolve({ code, text: JSON.stringify(body) });
  };
}

/**
 * Writes the conversions into their definitions, as an operator does when it starts.
 * @throws DefinitionError for a missing definition, or one that serves a version without functions
 */
export async function installConversions(
  client: Client,
  conversions: readonly ServedConversion[],
): Promise<void> {
  for (const each of conversions)
    if ((await installConversion(client, each, ENDPOINT, '')).outcome === 'missing')
      throw new DefinitionError({
        message: `\`crds\` has no ${definitionOf(each.conversion)}, which \`conversions\` converts`,
      });
}
