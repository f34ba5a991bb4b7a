/** Delays reconciles while another client reverts a field of this controller, and reports the fight once. */
import type { Clock } from '../../lib/clock.ts';
import { FightDetector, type OwnWrite } from './fight-detector.ts';
import { reportFight, type FightPorts } from './fight.ts';
import type { Key, Obj, View } from '../types.ts';

type FightBackoffPorts<P extends Obj> = Omit<FightPorts<P>, 'primary'> & { readonly clock: Clock };

export class FightBackoff<P extends Obj> {
  readonly #detector = new FightDetector();
  readonly #ports: FightBackoffPorts<P>;

  constructor(ports: FightBackoffPorts<P>) {
    this.#ports = ports;
  }

  /** Milliseconds that the reconcile of a primary has to wait, or 0. */
  waitMs(key: Key, primary: View<P>): number {
    const ms = this.#detector.waitMs(key, primary, this.#ports.clock.now());
    const fight = ms > 0 ? this.#detector.toReport(key) : undefined;
    if (fight) void reportFight(fight, { ...this.#ports, primary });
    return ms;
  }

  /** Receives the writes of a reconcile. */
  observerOf(key: Key, primary: View<P>): (own: OwnWrite) => void {
    return (own) => {
      this.#detector.written(primary, key, own, this.#ports.clock.now());
    };
  }

  forget(key: Key): void {
    this.#detector.forget(key);
  }
}
