/** What is asked, heard, given and taken, on whatever connection, is numbered in the order in which it came about. */
let last = 0;

export function birth(): number {
  last += 1;
  return last;
}
