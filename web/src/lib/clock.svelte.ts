// The page's clock: ticks fast only while a turn runs, and slowly for those who want less motion.
class Clock {
  /** performance.now() of the last tick. */
  now = $state(performance.now());
  /** Seconds since 1970. */
  seconds = $state(Date.now() / 1000);

  start(busy: () => boolean): () => void {
    const calm = matchMedia('(prefers-reduced-motion: reduce)');
    let sinceSlow = 0;
    const timer = setInterval(() => {
      if (document.hidden) return;
      const slow = ++sinceSlow >= 5;
      if (busy() && (!calm.matches || slow)) this.now = performance.now();
      if (slow) {
        this.seconds = Date.now() / 1000;
        sinceSlow = 0;
      }
    }, 200);
    return () => clearInterval(timer);
  }
}

export const clock = new Clock();
