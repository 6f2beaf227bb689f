/** What `contracts/ReceiptAnchor.sol` compiles to: interface, bytecode, and with which compiler and settings, so that anybody can compare. */
export { receiptAnchor } from './generated/receipt-anchor.ts';
