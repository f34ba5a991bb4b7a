/** Validates names, label keys and label values; each check returns the messages of Kubernetes. */

import { append } from './lists.ts';

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const subdomain = whole(SUBDOMAIN);
const label = whole(LABEL);
const label1035 = whole(LABEL_1035);
const qualified = whole(QUALIFIED);
const labelValue = whole(LABEL_VALUE);

/** `MESSAGE (e.g. 'a',  or 'b', regex used for validation is 'R')`, with upstream's double spaces. */
function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  const list = examples
    .map((example, index) => (index === 0 ? `'${example}'` : ` or '${example}'`))
    .join(', ');
  return `${message} (e.g. ${list}, regex used for validation is '${pattern}')`;
}

export const tooLongText = (max: number): string => `must be no more than ${max} characters`;

export function isDns1123Subdomain(text: string): string[] {
  const errors = text.length > 253 ? [tooLongText(253)] : [];
  if (!subdomain.test(text)) {
    const message =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexError(message, SUBDOMAIN, 'example.com'));
  }
  return errors;
}

export function isDns1123Label(text: string): string[] {
  const errors = text.length > 63 ? [tooLongText(63)] : [];
  if (!label.test(text)) {
    if (subdomain.test(text)) return [...errors, 'must not contain dots'];
    const message =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    errors.push(regexError(message, LABEL, 'my-name', '123-abc'));
  }
  return errors;
}

export function isDns1035Label(text: string): string[] {
  const errors = text.length > 63 ? [tooLongText(63)] : [];
  if (!label1035.test(text)) {
    const message =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    errors.push(regexError(message, LABEL_1035, 'my-name', 'abc-123'));
  }
  return errors;
}

/** `[prefix/]name`, the format of label keys, annotation keys and finalizers. */
export function isQualifiedName(text: string): string[] {
  const message =
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const parts = text.split('/');
  if (parts.length > 2) {
    const full = regexError(message, QUALIFIED, 'MyName', 'my.name', '123-abc');
    return [`${full} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') errors.push('prefix part must be non-empty');
    else
      append(
        errors,
        isDns1123Subdomain(prefix).map((why) => `prefix part ${why}`),
      );
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${tooLongText(63)}`);
  if (!qualified.test(name)) {
    const part = message.replace('a qualified name', 'name part');
    errors.push(regexError(part, QUALIFIED, 'MyName', 'my.name', '123-abc'));
  }
  return errors;
}

export function isLabelValue(text: string): string[] {
  const errors = text.length > 63 ? [tooLongText(63)] : [];
  if (!labelValue.test(text)) {
    const message =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(regexError(message, LABEL_VALUE, 'MyValue', 'my_value', '12345'));
  }
  return errors;
}

/** Names that only have to be a path segment: the rule for RBAC objects. */
export function isPathSegment(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);
}
