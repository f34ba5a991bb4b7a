/** The strings of a kubeconfig. Field names have one spelling, so that what is checked is what is used. */
import { EACH_STRING, stringFields, type YamlStrings } from './yaml-strings.ts';

const struct = (fields: Readonly<Record<string, YamlStrings>>): YamlStrings => ({ fields, isExact: true });
const namedList = (field: string, body: Readonly<Record<string, YamlStrings>>): YamlStrings => ({
  each: struct({ name: 'string', [field]: struct(body) }),
});

export const KUBECONFIG: YamlStrings = struct({
  ...stringFields('apiVersion', 'kind', 'current-context'),
  clusters: namedList(
    'cluster',
    stringFields(
      'server',
      'tls-server-name',
      'certificate-authority',
      'certificate-authority-data',
      'proxy-url',
    ),
  ),
  users: namedList('user', {
    ...stringFields('client-certificate', 'client-certificate-data', 'client-key', 'client-key-data'),
    ...stringFields('token', 'tokenFile', 'username', 'password', 'as', 'as-uid'),
    'as-groups': EACH_STRING,
    'as-user-extra': { each: EACH_STRING },
    'auth-provider': struct({ name: 'string', config: EACH_STRING }),
    exec: struct({
      ...stringFields('apiVersion', 'command', 'installHint', 'interactiveMode'),
      args: EACH_STRING,
      env: { each: struct(stringFields('name', 'value')) },
    }),
  }),
  contexts: namedList('context', stringFields('cluster', 'user', 'namespace')),
});
