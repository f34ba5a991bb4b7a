/** Validation of `spec.conversion` of a CustomResourceDefinition. Paths refer to upstream's internal form. */
import { isDns1035Label } from '../../lib/names.ts';
import { forbidden, invalid, notSupported, required } from '../schema/field-errors.ts';
import { isObject, type FieldError, type JsonObject } from '../types.ts';
import { objectAt, textAt } from './names.ts';

const PATH = 'spec.conversion';
const CONFIG = `${PATH}.webhookClientConfig`;
const REVIEWS = `${PATH}.conversionReviewVersions`;
const ACCEPTED = ['v1', 'v1beta1'];

export function conversionErrors(conversion: JsonObject): FieldError[] {
  const strategy = textAt(conversion, 'strategy');
  const webhook = objectAt(conversion, 'webhook');
  const { clientConfig: config, conversionReviewVersions } = webhook;
  const reviews = Array.isArray(conversionReviewVersions) ? (conversionReviewVersions as unknown[]) : [];
  if (strategy === 'Webhook') return [...configErrors(config), ...reviewErrors(reviews)];
  const errors: FieldError[] = [];
  if (strategy === '' && isObject(conversion)) errors.push(required(`${PATH}.strategy`));
  if (strategy !== '' && strategy !== 'None')
    errors.push(notSupported(`${PATH}.strategy`, strategy, ['None', 'Webhook']));
  const why = 'should not be set when strategy is not set to Webhook';
  if (isObject(config)) errors.push(forbidden(CONFIG, why));
  if (reviews.length > 0) errors.push(forbidden(REVIEWS, why));
  return errors;
}

function configErrors(config: unknown): FieldError[] {
  if (!isObject(config)) return [required(CONFIG, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  if ((url === undefined) === !isObject(service))
    return [required(CONFIG, 'exactly one of url or service is required')];
  if (typeof url === 'string') return urlErrors(url);
  return ['namespace', 'name']
    .filter((field) => textAt(service as JsonObject, field) === '')
    .map((field) => required(`${CONFIG}.service.${field}`, `service ${field} is required`));
}

function urlErrors(text: string): FieldError[] {
  const at = `${CONFIG}.url`;
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(at, `url must be a valid URL${form}`)];
  const { protocol, hostname, hash, search, username } = new URL(text);
  if (protocol !== 'https:')
    return [invalid(at, protocol.replace(/:$/, ''), `'https' is the only allowed URL scheme${form}`)];
  if (hostname === '') return [invalid(at, hostname, `host must be specified${form}`)];
  const errors: FieldError[] = [];
  if (username !== '') errors.push(invalid(at, username, 'user information is not permitted in the URL'));
  if (hash !== '') errors.push(invalid(at, hash.slice(1), 'fragments are not permitted in the URL'));
  if (search !== '')
    errors.push(invalid(at, search.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

function reviewErrors(versions: readonly unknown[]): FieldError[] {
  if (versions.length === 0) return [required(REVIEWS)];
  const errors = versions.flatMap((version, i) => {
    const at = `${REVIEWS}[${String(i)}]`;
    if (versions.indexOf(version) < i) return [invalid(at, version, 'duplicate version')];
    return isDns1035Label(String(version)).map((why) => invalid(at, version, why));
  });
  if (!versions.some((version) => ACCEPTED.includes(String(version))))
    errors.push(invalid(REVIEWS, versions, `must include at least one of ${ACCEPTED.join(', ')}`));
  return errors;
}
