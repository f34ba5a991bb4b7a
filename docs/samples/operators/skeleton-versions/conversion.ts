/** Converts a Skeleton from the older version and to it. What the older one does not have is kept in an annotation. */
import { conversionOf, withAnnotation } from 'espalier/runtime';
import { older, skeletons } from './kind.ts';

const PORT = 'example.org/port';
const DEFAULT_PORT = 8080;

export const conversion = conversionOf(skeletons).spoke(older, {
  toHub: ({ metadata, spec: { text, ...spec }, status }) => ({
    metadata: withAnnotation(metadata, PORT, undefined),
    spec: { ...spec, message: text, port: portOf(metadata.annotations?.[PORT]) },
    ...(status && { status }),
  }),
  fromHub: ({ metadata, spec: { message, port, ...spec }, status }) => ({
    metadata: withAnnotation(metadata, PORT, port === DEFAULT_PORT ? undefined : String(port)),
    spec: { ...spec, text: message },
    ...(status && { status }),
  }),
});

/** Users can write anything into an annotation. */
function portOf(text: string | undefined): number {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65535 ? port : DEFAULT_PORT;
}
