// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The proofs of RFC 9162, sections 2.1.3.2 and 2.1.4.2, over SHA-256. Left and right follow from index and size: nothing of a proof can
/// choose them. Hashes are the roots and nodes of an RFC 6962 tree, so one tree serves this chain and every tool of transparency logs.
library Rfc6962 {
    /// That a leaf stands at an index of the tree of a size.
    function isIncluded(bytes32 root, uint64 size, uint64 index, bytes32 leaf, bytes32[] calldata path) internal view returns (bool) {
        if (index >= size) return false;
        uint64 place = index;
        uint64 last = size - 1;
        bytes32 found = leaf;
        for (uint256 i = 0; i < path.length; ++i) {
            if (last == 0) return false;
            if (place & 1 == 1 || place == last) {
                found = nodeHash(path[i], found);
                // The last node of a level without a neighbour goes up as it is.
                while (place & 1 == 0 && place != 0) {
                    place >>= 1;
                    last >>= 1;
                }
            } else {
                found = nodeHash(found, path[i]);
            }
            place >>= 1;
            last >>= 1;
        }
        return last == 0 && found == root;
    }

    /// That the tree of one size is the beginning of the tree of a larger one. `oldSize` is at least 1.
    function isConsistent(uint64 oldSize, bytes32 oldRoot, uint64 newSize, bytes32 newRoot, bytes32[] calldata path)
        internal
        view
        returns (bool)
    {
        if (oldSize == 0 || oldSize >= newSize) return false;
        uint64 place = oldSize - 1;
        uint64 last = newSize - 1;
        while (place & 1 == 1) {
            place >>= 1;
            last >>= 1;
        }
        // The old tree was whole: its root is where the path begins.
        bytes32 oldFound = oldRoot;
        uint256 i = 0;
        if (place != 0) {
            if (path.length == 0) return false;
            oldFound = path[0];
            i = 1;
        }
        bytes32 newFound = oldFound;
        for (; i < path.length; ++i) {
            if (last == 0) return false;
            if (place & 1 == 1 || place == last) {
                oldFound = nodeHash(path[i], oldFound);
                newFound = nodeHash(path[i], newFound);
                while (place & 1 == 0 && place != 0) {
                    place >>= 1;
                    last >>= 1;
                }
            } else {
                newFound = nodeHash(newFound, path[i]);
            }
            place >>= 1;
            last >>= 1;
        }
        return last == 0 && oldFound == oldRoot && newFound == newRoot;
    }

    /// SHA-256 over 0x01, left and right. Written by hand: it leaves the memory as it was, so that a long path costs no more a level than a short one.
    function nodeHash(bytes32 left, bytes32 right) private view returns (bytes32 hash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore8(free, 1)
            mstore(add(free, 1), left)
            mstore(add(free, 33), right)
            if iszero(staticcall(gas(), 2, free, 65, 0, 32)) { revert(0, 0) }
            hash := mload(0)
        }
    }
}
