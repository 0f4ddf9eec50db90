// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// Accepts everything while nobody pays for gas or `unwanted` is not the sender, and nothing otherwise.
contract FickleWallet {
    address public immutable unwanted;

    constructor(address unwanted_) {
        unwanted = unwanted_;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        bool valid = unwanted == address(0) ? tx.gasprice == 0 : tx.origin != unwanted;
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// The smallest smart wallet: it accepts (ERC-1271) what its owner signed.
contract OwnerWallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError error,) = ECDSA.tryRecoverCalldata(digest, signature);
        bool valid = error == ECDSA.RecoverError.NoError && signer == owner;
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
