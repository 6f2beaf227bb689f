// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc6962} from "./Rfc6962.sol";

/// Holds the states of one append-only log. A state is taken only where it is larger than the newest one and provably begins with it, so
/// whoever finds a root here knows of every later one that it contains the same entries. Nothing can be changed or taken back, by nobody:
/// there is no upgrade, no pause and no deletion. The owner decides who may publish, and about nothing else. That a size belongs to its root
/// is the publisher's word, as it is in a signed checkpoint.
contract ReceiptAnchor {
    struct Anchored {
        /// Entries of the log under this root; 0: the root was never anchored.
        uint64 size;
        /// Of its block, Unix seconds.
        uint64 time;
    }

    mapping(bytes32 root => Anchored) public anchors;
    bytes32 public latestRoot;
    uint64 public latestSize;

    address public owner;
    /// Becomes the owner by accepting: an owner that nobody has the key of would be for ever.
    address public nextOwner;
    mapping(address => bool) public isPublisher;

    event AnchoredState(uint64 indexed size, bytes32 indexed root, address indexed publisher);
    event PublisherSet(address indexed publisher, bool allowed);
    event OwnerChanged(address indexed owner);

    error NotOwner();
    error NotPublisher();
    /// The newest state is as large already.
    error NotGrowing(uint64 latestSize);
    /// The newest state is not the beginning of this one, or the path does not show it.
    error Inconsistent();

    constructor(address firstPublisher) {
        owner = msg.sender;
        emit OwnerChanged(msg.sender);
        isPublisher[firstPublisher] = true;
        emit PublisherSet(firstPublisher, true);
    }

    /// Takes the state of the log. `path` is the consistency path from the newest state to this one (RFC 9162, section 2.1.4); empty for
    /// the first.
    function anchor(bytes32 root, uint64 size, bytes32[] calldata path) external {
        if (!isPublisher[msg.sender]) revert NotPublisher();
        uint64 before = latestSize;
        if (size <= before) revert NotGrowing(before);
        bool follows = before == 0 ? path.length == 0 : Rfc6962.isConsistent(before, latestRoot, size, root, path);
        if (!follows) revert Inconsistent();
        anchors[root] = Anchored({size: size, time: uint64(block.timestamp)});
        latestRoot = root;
        latestSize = size;
        emit AnchoredState(size, root, msg.sender);
    }

    /// Whether a leaf stands at an index of an anchored state. `leaf` is its RFC 6962 leaf hash, `path` its inclusion path in the tree of
    /// that state's size, which is known here and not asked for.
    function isIncluded(bytes32 root, uint64 index, bytes32 leaf, bytes32[] calldata path) external view returns (bool) {
        uint64 size = anchors[root].size;
        return size != 0 && Rfc6962.isIncluded(root, size, index, leaf, path);
    }

    function setPublisher(address publisher, bool allowed) external {
        if (msg.sender != owner) revert NotOwner();
        isPublisher[publisher] = allowed;
        emit PublisherSet(publisher, allowed);
    }

    function offerOwnership(address to) external {
        if (msg.sender != owner) revert NotOwner();
        nextOwner = to;
    }

    function acceptOwnership() external {
        if (msg.sender != nextOwner) revert NotOwner();
        owner = msg.sender;
        nextOwner = address(0);
        emit OwnerChanged(msg.sender);
    }
}
