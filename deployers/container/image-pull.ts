/** Images that a kubelet cannot pull: whether the run has failed, or waits for the registry. Pure. */

/** Reasons of waiting containers, by kubelets of all versions. */
const REASONS = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable'];
/** Only another image or another policy helps. */
const FINAL_REASONS = ['ErrImageNeverPull', 'ErrInvalidImageName', 'InvalidImageName'];

/** Failures of connections and of overloaded registries, as containerd and CRI-O word them. */
const TEMPORARY = [
  /\bdial (?:tcp|udp)\b/i,
  /connection (?:refused|reset)/i,
  /no such host|server misbehaving|no route to host|network is unreachable/i,
  /timeout|timed out|deadline exceeded/i,
  /\bEOF\b/,
  /too ?many ?requests/i,
  /status(?: code)?[^\n]*: (?:429|5\d\d)\b/i,
  /\b(?:429|50[0-4]) [A-Z]/,
];
/** The registry has no such image, or refuses it. */
const FINAL = [
  /code = NotFound\b/,
  /\bnot found\b|manifest unknown|name unknown|does not exist/i,
  /unauthori[sz]ed|authentication required|authorization failed/i,
  /access (?:to the resource is )?denied|\bforbidden\b/i,
  /invalid reference format|couldn't parse image/i,
];

/** Names and addresses may contain any word: they are quoted, or contain a slash. */
const withoutNames = (message: string): string =>
  message.replace(/"[^"]*"/g, '').replace(/\S+/g, (word) => (word.includes('/') ? '' : word));

const matches = (patterns: readonly RegExp[], message: string): boolean =>
  patterns.some((pattern) => pattern.test(withoutNames(message)));

/** undefined: the container does not wait for its image. An unknown failure counts as temporary. */
export function pullFailure(reason: string, message: string): 'final' | 'temporary' | undefined {
  if (FINAL_REASONS.includes(reason)) return 'final';
  if (!REASONS.includes(reason)) return undefined;
  return !matches(TEMPORARY, message) && matches(FINAL, message) ? 'final' : 'temporary';
}

/** Some kubelets report the cause only until the next attempt: `Back-off pulling image "…"` has none. */
export const hasCause = (message: string): boolean => !/^(?:Back-off pulling image "[^"]*")?$/.test(message);

/** The error of a container whose image cannot be pulled. */
export function pullMessage(
  place: { readonly container: string; readonly image: string; readonly isFinal: boolean },
  reason: string,
  message: string,
): string {
  const { container, image, isFinal } = place;
  const what = isFinal ? 'cannot be pulled' : 'cannot be pulled at the moment, the kubelet retries';
  return `container ${container}: image "${image}" ${what}: ${message === '' ? reason : `${reason}: ${message}`}`;
}
