// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {UsdcStandIn} from "./UsdcStandIn.sol";

/// Keeps a tenth of every transfer: the payee receives less than was signed for.
contract FeeOnTransferToken is UsdcStandIn {
    function _transfer(address from, address to, uint256 value) internal override {
        uint256 fee = value / 10;
        super._transfer(from, address(this), fee);
        super._transfer(from, to, value - fee);
    }
}

/// Consumes the authorization and returns, without moving anything and without a Transfer event.
contract SilentToken is UsdcStandIn {
    function _transfer(address, address, uint256) internal override {}
}

/// Consumes the authorization and says that it moved the money, without moving it.
contract LyingToken is UsdcStandIn {
    function _transfer(address from, address to, uint256 value) internal override {
        emit Transfer(from, to, value);
    }
}

/// Passes a simulation in an odd block and reverts when mined in the even one after it.
contract TurningToken is UsdcStandIn {
    function _transfer(address from, address to, uint256 value) internal override {
        require(block.number % 2 == 1, "TurningToken: no");
        super._transfer(from, to, value);
    }
}

/// Passes every simulation that pays no gas price and reverts when mined.
contract RevertingToken is UsdcStandIn {
    function _transfer(address from, address to, uint256 value) internal override {
        require(tx.gasprice == 0, "RevertingToken: no");
        super._transfer(from, to, value);
    }
}

/// Burns all the gas it is given, in simulations too.
contract GasBurningToken is UsdcStandIn {
    function _transfer(address, address, uint256) internal pure override {
        while (true) {}
    }
}
