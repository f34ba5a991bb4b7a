/** Whether the page has the layout for narrow screens; the style sheet has the same limit. */
import { useEffect, useState } from 'preact/hooks';

const QUERY = '(max-width: 900px)';

export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(QUERY).matches);
  useEffect(() => {
    const media = matchMedia(QUERY);
    const update = (): void => setNarrow(media.matches);
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, []);
  return isNarrow;
}
