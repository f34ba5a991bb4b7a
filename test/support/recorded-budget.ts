/** A budget that records the key of each reservation. */
import { ByteBudget, type ByteShare } from '../../src/lib/byte-budget.ts';

export class RecordedBudget extends ByteBudget {
  readonly keys: string[] = [];

  override take(bytes: number, key: string, signal?: AbortSignal): Promise<ByteShare> {
    this.keys.push(key);
    return super.take(bytes, key, signal);
  }
}
