/** How long a vector is. `Math.hypot` is many times slower, to be right for numbers that no picture has. */
export function lengthOf(x: number, y: number): number {
  return Math.sqrt(x * x + y * y);
}
