export { Cell } from './cell.ts';
